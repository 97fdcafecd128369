package template

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func run(t *testing.T, command string, arguments ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), command, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", command, arguments, err, out)
	}
}

// script runs a script of this folder with the Python that runs a tool, and decodes
// its output into result. The test is skipped if the tool is missing.
func script(t *testing.T, tool, file string, input, result any) {
	t.Helper()
	stdin, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var message bytes.Buffer
	command := exec.CommandContext(t.Context(), processtest.Python(t, tool), filepath.Join("test/template", file))
	command.Stdin = bytes.NewReader(stdin)
	command.Stderr = &message
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, message.String())
	}
	if err := json.Unmarshal(output, result); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// stack is a template as CloudFormation gets it from SAM. An intrinsic function is an
// object with the function's name as its only member.
type stack struct {
	Parameters map[string]parameter
	Conditions map[string]any
	Resources  map[string]resource
	text       []byte
}

type parameter struct {
	AllowedValues  []any
	AllowedPattern string
}

type resource struct {
	Type                string
	DeletionPolicy      string
	UpdateReplacePolicy string
	Properties          json.RawMessage
}

// deployment is what decides whether a stack has a canary.
type deployment struct{ Stage, Shift string }

// translate returns the stack of each kind of deployment. SAM makes them once for all tests.
func translate(t *testing.T) map[deployment]stack {
	t.Helper()
	translation.Do(func() {
		var kinds []deployment
		for _, stage := range []string{"dev", "staging", "production"} {
			kinds = append(kinds, deployment{Stage: stage, Shift: "gradual"}, deployment{Stage: stage, Shift: "at-once"})
		}
		var translated []json.RawMessage
		script(t, "sam", "stacks.py", kinds, &translated)
		for i, kind := range kinds {
			s := stack{text: translated[i]}
			if err := json.Unmarshal(s.text, &s); err != nil {
				t.Fatal(err)
			}
			stacks[kind] = s
		}
	})
	if len(stacks) == 0 {
		t.Skip("skipped: SAM does not translate template.yaml, as another test reports")
	}
	return stacks
}

var (
	translation sync.Once
	stacks      = map[deployment]stack{}
)

// production returns the stack with everything in it.
func production(t *testing.T) stack {
	t.Helper()
	return translate(t)[deployment{Stage: "production", Shift: "gradual"}]
}

// properties returns the properties of the resources of a type. It fails the test if
// there are none: a rule must have something to check.
func properties[T any](t *testing.T, s stack, kind string) map[string]T {
	t.Helper()
	found := map[string]T{}
	for name, resource := range s.Resources {
		if resource.Type != kind {
			continue
		}
		var decoded T
		if err := json.Unmarshal(resource.Properties, &decoded); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found[name] = decoded
	}
	if len(found) == 0 {
		t.Fatalf("the stack has no %s", kind)
	}
	return found
}

// ref is a reference to a parameter or to a resource.
type ref struct{ Ref string }

// attribute is an attribute of a resource.
type attribute struct {
	GetAtt [2]string `json:"Fn::GetAtt"`
}

// substitution is a text with parameters in it.
type substitution struct {
	Sub string `json:"Fn::Sub"`
}

// equal reports whether two values are the same as JSON.
func equal(a, b any) bool { return reflect.DeepEqual(decoded(a), decoded(b)) }

// decoded returns what the JSON of a value is decoded to.
func decoded(value any) (as any) {
	encoded, _ := json.Marshal(value) // our types have a JSON form
	_ = json.Unmarshal(encoded, &as)  // it is well-formed
	return as
}

// Package template checks what no linter sees in template.yaml and in deploy/role.yaml: rules about the
// stack that SAM makes of the one, and about what the other allows.
package template

import (
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
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

// translation is what SAM makes of the template, and the actions that CloudFormation needs for it.
type translation struct {
	Production, Staging, AtOnce, Dev stack
	Permissions                      []string
}

// translate returns the translation of the template. SAM makes it once for all tests. The test is
// skipped if SAM is missing.
func translate(t *testing.T) (translated translation) {
	t.Helper()
	python := processtest.Python(t, "sam")
	sam.once.Do(func() {
		command := exec.Command(python, "test/template/stack.py") //nolint:noctx // for all tests
		command.Stderr = os.Stderr
		sam.output, sam.err = command.Output()
	})
	if sam.err != nil {
		t.Fatalf("SAM does not translate template.yaml: %v", sam.err)
	}
	if err := json.Unmarshal(sam.output, &translated); err != nil {
		t.Fatal(err)
	}
	return translated
}

var sam struct {
	once   sync.Once
	output []byte
	err    error
}

// stack is a template as CloudFormation gets it from SAM. An intrinsic function is an
// object with the function's name as its only member.
type stack struct {
	Parameters map[string]any
	Conditions map[string]any
	Resources  map[string]resource
}

type resource struct {
	Type                string
	DeletionPolicy      string
	UpdateReplacePolicy string
	Properties          json.RawMessage
}

// production returns the stack with everything in it.
func production(t *testing.T) stack {
	t.Helper()
	return translate(t).Production
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

// function is what the rules read of an AWS::Lambda::Function.
type function struct {
	Environment   struct{ Variables map[string]any }
	MemorySize    any
	Timeout       int // seconds
	Role          any
	TracingConfig any
}

// table returns the table that a function gets the name of.
func (f function) table() string {
	for name, value := range f.Environment.Variables {
		if strings.HasSuffix(name, "_TABLE") {
			return target(value)
		}
	}
	return ""
}

// ref is a reference to a parameter or to a resource.
type ref struct{ Ref string }

// target returns the resource or parameter that a reference names, or a text as it is.
func target(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case map[string]any:
		if name, isRef := value["Ref"].(string); isRef {
			return name
		}
		if attribute, isAttribute := value["Fn::GetAtt"].([]any); isAttribute {
			return attribute[0].(string)
		}
	}
	return ""
}

// refers reports whether a value contains a reference to a parameter or a resource.
func refers(value any, name string) bool {
	encoded, _ := json.Marshal(value) // it was decoded from JSON
	return strings.Contains(string(encoded), `{"Ref":"`+name+`"}`)
}

// equal reports whether two values are the same as JSON.
func equal(a, b any) bool { return reflect.DeepEqual(decoded(a), decoded(b)) }

// decoded returns what the JSON of a value is decoded to.
func decoded(value any) (as any) {
	encoded, _ := json.Marshal(value) // our types have a JSON form
	_ = json.Unmarshal(encoded, &as)  // it is well-formed
	return as
}

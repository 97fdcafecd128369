// Package template checks what no linter sees in template.yaml and in the workflows: what SAM makes of the
// template, rules about that, and who may change it.
package template

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

// output is what translate.py prints.
type output struct {
	Stacks map[string]stack // template.yaml as SAM translates it, by stage and shift; and templates, by their files
	Golden string           // the stack productionGradual, in YAML
}

var translation struct {
	sync.Once
	output
}

// translated returns what translate.py prints, which runs once for all tests. The test is skipped if SAM
// is missing.
func translated(t *testing.T) output {
	t.Helper()
	python := processtest.Python(t, "sam")
	translation.Do(func() {
		command := exec.CommandContext(t.Context(), python, "test/template/translate.py")
		command.Stderr = os.Stderr
		printed, err := command.Output()
		if err == nil {
			err = json.Unmarshal(printed, &translation.output)
		}
		if err != nil {
			t.Fatalf("translate.py: %v", err)
		}
	})
	if translation.Stacks == nil {
		t.Fatal("translate.py failed")
	}
	return translation.output
}

// productionGradual is the name of the stack with everything in it.
const productionGradual = "production gradual"

func production(t *testing.T) stack {
	t.Helper()
	return translated(t).Stacks[productionGradual]
}

// stack is a template, with references as translate.py writes them. Any other intrinsic function is an object
// with the function's name as its only member.
type stack struct {
	Parameters map[string]struct {
		AllowedPattern string
		AllowedValues  []any
		MaxLength      int
	}
	Resources map[string]json.RawMessage
}

// object is a JSON object.
type object = map[string]any

// resources returns the properties of the resources of a type, of the one with a name, or of all, and the attributes
// beside them, such as DeletionPolicy. It fails the test if there are none: a rule must have something to check.
func resources[T any](t *testing.T, s stack, of string) map[string]T {
	t.Helper()
	found := map[string]T{}
	for name, content := range s.Resources {
		var resource struct {
			Type       string
			Properties json.RawMessage
		}
		decode(t, content, &resource)
		if of != "" && of != name && of != resource.Type {
			continue
		}
		var decoded T
		decode(t, content, &decoded)
		decode(t, resource.Properties, &decoded)
		found[name] = decoded
	}
	if len(found) == 0 {
		t.Fatalf("the stack has no %s", of)
	}
	return found
}

func decode(t *testing.T, content json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", content, err)
	}
}

// referenced returns the name in a reference, such as Log in ${Log.Arn}.
func referenced(reference string) string {
	name, _, _ := strings.Cut(strings.Trim(reference, "${}"), ".")
	return name
}

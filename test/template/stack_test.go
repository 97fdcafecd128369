// Package template checks what no linter sees in template.yaml, the templates in deploy, samconfig.toml and
// the workflows: rules about the stack that SAM makes of the template, and about who may change it.
package template

import (
	"encoding/json"
	"fmt"
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
	Stacks    map[string]stack // template.yaml by stage and shift, and those in deploy
	Verdicts  []string         // on conditionRows
	Samconfig nodes            // of each environment, and default
	Workflows nodes            // such as deploy, and its jobs such as deploy/staging
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
		var parameters strings.Builder
		for _, row := range conditionRows {
			fmt.Fprintln(&parameters, row.parameters)
		}
		command := exec.CommandContext(t.Context(), python, "test/template/translate.py")
		command.Stdin = strings.NewReader(parameters.String())
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

// gradual is the name of the stack with everything in it.
const gradual = "production gradual"

func production(t *testing.T) stack {
	t.Helper()
	return translated(t).Stacks[gradual]
}

// object is a JSON object.
type object = map[string]any

// stack is a template after SAM, with references as translate.py writes them. Any other intrinsic function
// is an object with the function's name as its only member.
type stack struct {
	Parameters map[string]struct {
		AllowedValues []any
		MaxLength     int
	}
	Resources map[string]struct {
		Type       string
		Properties json.RawMessage
	}
	Nodes nodes // of the resources, the parameters and the outputs
}

// properties returns the properties of the resources of a type. It fails the test if there are none: a rule
// must have something to check.
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

// named returns the name in a reference, such as Log in ${Log.Arn}.
func named(reference string) string {
	name, _, _ := strings.Cut(strings.Trim(reference, "${}"), ".")
	return name
}

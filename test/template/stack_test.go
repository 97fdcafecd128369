// Package template checks what no linter sees in template.yaml and in deploy/role.yaml: rules about the
// stack that SAM makes of the one, and about what the other allows.
package template

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

// output is what translate.py prints.
type output struct {
	Stacks       map[string]stack // template.yaml by stage and shift, and deploy/role.yaml
	Environments map[string]struct {
		Stack      string
		Parameters map[string]any
	}
}

var translation struct {
	once   sync.Once
	output output
	err    error
}

// translated returns what translate.py prints, which runs once for all tests. The test is skipped if SAM
// is missing.
func translated(t *testing.T) output {
	t.Helper()
	python := processtest.Python(t, "sam")
	translation.once.Do(func() {
		command := exec.Command(python, "test/template/translate.py") //nolint:noctx // for all tests
		command.Stderr = os.Stderr
		printed, err := command.Output()
		if err != nil {
			translation.err = err
			return
		}
		translation.err = json.Unmarshal(printed, &translation.output)
	})
	if translation.err != nil {
		t.Fatalf("translate.py: %v", translation.err)
	}
	return translation.output
}

// production returns the stack with everything in it.
func production(t *testing.T) stack {
	t.Helper()
	return translated(t).Stacks["production gradual"]
}

// TestConditions checks that a condition with Has in its name means that a parameter is not empty.
func TestConditions(t *testing.T) {
	s := production(t)
	for name, condition := range s.Conditions {
		isSet := func(parameter string) bool {
			isEmpty := object{"Fn::Equals": []any{"${" + parameter + "}", ""}}
			return reflect.DeepEqual(condition, object{"Fn::Not": []any{isEmpty}})
		}
		if strings.HasPrefix(name, "Has") && !slices.ContainsFunc(slices.Collect(maps.Keys(s.Parameters)), isSet) {
			t.Errorf("%s is %v, want a parameter that is not empty", name, condition)
		}
	}
}

// TestEnvironments checks that each environment in AWS deploys its own stack, in its own stage, and sets
// every parameter but those of a build: SAM keeps the old value of one that is left out. In production,
// RefusalsAlarm is on.
func TestEnvironments(t *testing.T) {
	environments := translated(t).Environments
	want := slices.Sorted(maps.Keys(production(t).Parameters))
	for name, e := range environments {
		if !strings.HasSuffix(e.Stack, "-"+name) || e.Parameters["Stage"] != name {
			t.Errorf("%s deploys %s in the stage %v", name, e.Stack, e.Parameters["Stage"])
		}
		got := append(slices.Collect(maps.Keys(e.Parameters)), "Architecture", "Build", "Shift")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s and its build set %v, want %v", name, got, want)
		}
	}
	if environments["production"].Parameters["RefusalLimit"] == 100.0 {
		t.Error("RefusalsAlarm is off in production")
	}
}

// object is a JSON object.
type object = map[string]any

// stack is a template after SAM, with references as translate.py writes them. Any other intrinsic function
// is an object with the function's name as its only member.
type stack struct {
	Parameters map[string]any
	Conditions map[string]object
	Resources  map[string]resource
}

type resource struct {
	Type                string
	Condition           string
	DeletionPolicy      string
	UpdateReplacePolicy string
	Properties          json.RawMessage
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

// named returns the name in a reference, such as Log in ${Log.Arn}.
func named(reference string) string {
	name, _, _ := strings.Cut(strings.Trim(reference, "${}"), ".")
	return name
}

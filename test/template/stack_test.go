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

// Prints the stacks that SAM makes of template.yaml, and deploy/role.yaml, as JSON.
const translate = `
import copy, json, sys
import boto3
from samcli.yamlhelper import yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

with open("template.yaml") as file:
    template = yaml_parse(file.read())
del template["Globals"]["Function"]["CodeUri"]
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = "s3://bucket/key"
translator = Translator({}, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
with open("deploy/role.yaml") as file:
    stacks = {"deploy/role.yaml": yaml_parse(file.read())}
for name in ("dev gradual", "staging gradual", "production gradual", "production at-once"):
    stage, shift = name.split()
    stacks[name] = translator.translate(copy.deepcopy(template), {"Stage": stage, "Shift": shift})
json.dump(stacks, sys.stdout)`

var translation struct {
	once   sync.Once
	stacks map[string]stack
	err    error
}

// stacks returns what SAM makes of the template, by stage and shift, and deploy/role.yaml. SAM does that
// once for all tests. The test is skipped if SAM is missing.
func stacks(t *testing.T) map[string]stack {
	t.Helper()
	python := processtest.Python(t, "sam")
	translation.once.Do(func() {
		command := exec.Command(python, "-c", translate) //nolint:noctx // for all tests
		command.Stderr = os.Stderr
		output, err := command.Output()
		if err != nil {
			translation.err = err
			return
		}
		translation.err = json.Unmarshal(output, &translation.stacks)
	})
	if translation.err != nil {
		t.Fatalf("SAM does not translate template.yaml: %v", translation.err)
	}
	return translation.stacks
}

// production returns the stack with everything in it.
func production(t *testing.T) stack {
	t.Helper()
	return stacks(t)["production gradual"]
}

// TestConditions checks that a condition with Has in its name means that a parameter is not empty.
func TestConditions(t *testing.T) {
	s := production(t)
	for name, condition := range s.Conditions {
		isSet := func(parameter string) bool {
			isEmpty := map[string]any{"Fn::Equals": []any{ref{parameter}, ""}}
			return equal(condition, map[string]any{"Fn::Not": []any{isEmpty}})
		}
		if strings.HasPrefix(name, "Has") && !slices.ContainsFunc(slices.Collect(maps.Keys(s.Parameters)), isSet) {
			t.Errorf("%s is %v, want a parameter that is not empty", name, condition)
		}
	}
}

// TestEnvironments checks that each environment deploys its own stack, in its own stage, and sets every
// parameter but those of a build: SAM keeps the old value of one that is left out. In production,
// RefusalsAlarm is on.
func TestEnvironments(t *testing.T) {
	const read = `
import json, tomllib
from samcli.yamlhelper import yaml_parse
environments = {}
with open("samconfig.toml", "rb") as file:
    config = tomllib.load(file)
for name in ("dev", "staging", "production"):
    deploy = config[name]["deploy"]["parameters"]
    shared, own, build = deploy["parameter_overrides"]
    with open(shared.removeprefix("file://")) as file:
        environments[name] = {"Stack": deploy["stack_name"], "Parameters": yaml_parse(file.read()) | own}
print(json.dumps(environments))`
	output, err := exec.CommandContext(t.Context(), processtest.Python(t, "sam"), "-c", read).Output()
	if err != nil {
		t.Fatal(err)
	}
	var environments map[string]struct {
		Stack      string
		Parameters map[string]any
	}
	if err := json.Unmarshal(output, &environments); err != nil {
		t.Fatal(err)
	}
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
	if equal(environments["production"].Parameters["RefusalLimit"], 100) {
		t.Error("RefusalsAlarm is off in production")
	}
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

// target returns the resource or parameter that a reference names, or a text as it is, as that of Fn::Sub.
func target(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case map[string]any:
		if name, isRef := value["Ref"].(string); isRef {
			return name
		}
		if text, isText := value["Fn::Sub"].(string); isText {
			return text
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

package template

import (
	"fmt"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

// environments are those of samconfig.toml, each with its stage.
var environments = []struct{ name, stage string }{
	{name: "dev", stage: "dev"},
	{name: "staging", stage: "staging"},
	{name: "production", stage: "production"},
	{name: "local", stage: "dev"}, // part: local-aws
}

// samconfig returns what the blocks of samconfig.toml say: each deploys a stack of its own, with its own
// parameters, tagged with its own name.
func samconfig() []value {
	rows := []value{
		{"local", "profile", "plant-store-local"}, // part: local-aws
		{"*", "resolve_s3", "true"},
		{"*", "force_upload", "true"}, // not what is in SAM's bucket
		{"*", "capabilities", "CAPABILITY_IAM"},
		{"*", "fail_on_empty_changeset", "false"},
		{"*", "parameter_overrides.0", "file://environments/shared.yaml"},
		{"*", "parameter_overrides.2", "file://.aws-sam/build/parameters.yaml"},
	}
	block := func(name, environment string) {
		rows = append(rows,
			value{name, "stack_name", "plant-store-" + environment},
			value{name, "tags", "Project=plant-store Stage=" + environment},
			value{name, "parameter_overrides.1", "file://environments/" + environment + ".yaml"})
	}
	block("default", "dev")
	for _, environment := range environments {
		block(environment.name, environment.name)
	}
	return rows
}

// TestSamconfig checks the table of samconfig.toml, and that `sam deploy` as typed deploys dev.
func TestSamconfig(t *testing.T) {
	n := translated(t).Samconfig
	n.check(t, samconfig(), func(string, string) bool { return true })
	if n["default"] != n["dev"] {
		t.Errorf("`sam deploy` deploys %s, want dev: %s", n["default"], n["dev"])
	}
}

// TestEnvironments checks the stage of each environment, and that RefusalsAlarm is on in production. The tests of tools/parameters check that each environment sets every parameter.
func TestEnvironments(t *testing.T) {
	for _, environment := range environments {
		parameters := parametersOf(t, environment.name)
		if parameters["Stage"] != environment.stage {
			t.Errorf("%s has the stage %v, want %s", environment.name, parameters["Stage"], environment.stage)
		}
		if environment.name == "production" && fmt.Sprint(parameters["RefusalLimit"]) == "100" {
			t.Error("RefusalsAlarm is off in production")
		}
	}
}

// parametersOf returns the parameters of an environment: its own, and those that all share.
func parametersOf(t *testing.T, environment string) (parameters object) {
	t.Helper()
	for _, name := range []string{"shared", environment} {
		content, err := os.ReadFile("environments/" + name + ".yaml")
		if err == nil {
			err = yaml.Unmarshal(content, &parameters)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return parameters
}

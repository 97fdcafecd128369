package template

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// environments are those of samconfig.toml.
var environments = []string{
	"dev", "staging", "production",
	"local", // part: local-aws
}

// samconfig returns what the blocks of samconfig.toml say, each tagged with its own name. tools/parameters checks
// their stacks and their parameters.
func samconfig() []value {
	rows := []value{
		{"local", "profile", "plant-store-local"}, // part: local-aws
		{"*", "resolve_s3", "true"},
		{"*", "force_upload", "true"}, // not what is in SAM's bucket
		{"*", "capabilities", "CAPABILITY_IAM"},
		{"*", "fail_on_empty_changeset", "false"},
		{"default", "tags", "Project=plant-store Stage=dev"},
	}
	for _, environment := range environments {
		rows = append(rows, value{environment, "tags", "Project=plant-store Stage=" + environment})
	}
	return rows
}

// TestSamconfig checks the table of samconfig.toml, and that `sam deploy` as typed deploys dev.
func TestSamconfig(t *testing.T) {
	n := translated(t).Samconfig
	n.check(t, samconfig(), func(place, _ string) bool {
		return !strings.HasSuffix(place, ".stack_name") && !strings.Contains(place, ".parameter_overrides.")
	})
	if n["default"] != n["dev"] {
		t.Errorf("`sam deploy` deploys %s, want dev: %s", n["default"], n["dev"])
	}
}

// TestRefusalLimit checks that RefusalsAlarm is on in production.
func TestRefusalLimit(t *testing.T) {
	if limit := fmt.Sprint(parametersOf(t, "production")["RefusalLimit"]); limit == "100" {
		t.Error("RefusalsAlarm is off in production")
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

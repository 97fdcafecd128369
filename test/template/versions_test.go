package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStackIsValid has cfn-lint check what SAM makes of the template, for example for
// references that lead nowhere and for cycles.
func TestStackIsValid(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stack.json")
	if err := os.WriteFile(file, production(t).text, 0o600); err != nil {
		t.Fatal(err)
	}
	// SAM has used the mapping, and with it Shift. For W3011, see template.yaml.
	run(t, "cfn-lint", "--ignore-checks", "W2001", "W3011", "W7001", "--", file)
}

// TestVersions checks that a change of a parameter alone publishes a version: the
// version's description must name every parameter that the function reads, except the
// name of the build, which only the log shows. The version before must remain.
func TestVersions(t *testing.T) {
	s := production(t)
	functions := properties[function](t, s, "AWS::Lambda::Function")
	type version struct {
		FunctionName ref
		Description  substitution
	}
	versions := properties[version](t, s, "AWS::Lambda::Version")
	if len(versions) != len(functions) {
		t.Errorf("%d functions have %d versions, want one each", len(functions), len(versions))
	}
	for name, v := range versions {
		f := functions[v.FunctionName.Ref]
		for parameter := range s.Parameters {
			used := parameter != "Build" && refers([]any{f.Environment.Variables, f.MemorySize, f.TracingConfig}, parameter)
			if used && !strings.Contains(v.Description.Sub, "${"+parameter+"}") {
				t.Errorf("the description %q of %s does not name %s", v.Description.Sub, name, parameter)
			}
		}
		r := s.Resources[name]
		if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %q and %q, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
	}
}

// refers reports whether a value contains a reference to a parameter or a resource.
func refers(value any, name string) bool {
	encoded, _ := json.Marshal(value) // it was decoded from JSON
	return strings.Contains(string(encoded), `{"Ref":"`+name+`"}`)
}

// TestShift checks which deployments shift traffic gradually. The others must have nothing
// of CodeDeploy: it would reject a fix while an alarm fires.
func TestShift(t *testing.T) {
	for kind, s := range translate(t) {
		t.Run(kind.Stage+" "+kind.Shift, func(t *testing.T) {
			groups := 0
			for _, resource := range s.Resources {
				if resource.Type == "AWS::CodeDeploy::DeploymentGroup" {
					groups++
				}
			}
			want := 0
			if kind.Stage != "dev" && kind.Shift == "gradual" {
				want = len(properties[function](t, s, "AWS::Lambda::Function"))
			}
			if groups != want {
				t.Errorf("it has %d deployment groups, want %d", groups, want)
			}
		})
	}
}

// TestCanary checks that a gradual deployment tries a new version on a part of the traffic,
// and that the alarms which docs/operations.md says roll back do.
func TestCanary(t *testing.T) {
	type watched struct{ Name ref }
	type group struct {
		DeploymentConfigName any
		AlarmConfiguration   struct {
			Enabled bool
			Alarms  []watched
		}
	}
	s := production(t)
	rows := read(t, "docs/operations.md")
	for name, g := range properties[group](t, s, "AWS::CodeDeploy::DeploymentGroup") {
		if config := fmt.Sprint(g.DeploymentConfigName); !strings.Contains(config, "Canary") {
			t.Errorf("%s shifts traffic by %s, want a canary", name, config)
		}
		if !g.AlarmConfiguration.Enabled {
			t.Errorf("%s watches no alarm", name)
		}
		for alarm := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
			want := strings.Contains(rows, "\n| "+alarm+" | yes |")
			if got := slices.Contains(g.AlarmConfiguration.Alarms, watched{ref{alarm}}); got != want {
				t.Errorf("%s rolls %s back: %t, want %t, as docs/operations.md says", alarm, name, got, want)
			}
		}
	}
}

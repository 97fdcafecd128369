package template

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStackIsValid has cfn-lint check what SAM makes of the template, for example for
// references that lead nowhere and for cycles.
func TestStackIsValid(t *testing.T) {
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
		used := references([]any{f.Environment.Variables, f.MemorySize, f.TracingConfig})
		for _, parameter := range slices.Sorted(maps.Keys(s.Parameters)) {
			if parameter != "Build" && used[parameter] && !strings.Contains(v.Description.Sub, "${"+parameter+"}") {
				t.Errorf("the description %q of %s does not name %s", v.Description.Sub, name, parameter)
			}
		}
		if r := s.Resources[name]; r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %q and %q, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
	}
}

// references returns the parameters and resources that a value refers to with Ref.
func references(value any) map[string]bool {
	names := map[string]bool{}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			maps.Copy(names, references(item))
		}
	case map[string]any:
		if name, ok := value["Ref"].(string); ok {
			names[name] = true
		}
		for _, member := range value {
			maps.Copy(names, references(member))
		}
	}
	return names
}

// TestShift checks which deployments shift traffic gradually and watch alarms. The
// others must have nothing of CodeDeploy: it would reject a fix while an alarm fires.
func TestShift(t *testing.T) {
	for kind, s := range translate(t) {
		t.Run(kind.Stage+" "+kind.Shift, func(t *testing.T) {
			gradual := kind.Stage != "dev" && kind.Shift == "gradual"
			groups := 0
			for _, resource := range s.Resources {
				if resource.Type == "AWS::CodeDeploy::DeploymentGroup" {
					groups++
				}
			}
			functions := len(properties[function](t, s, "AWS::Lambda::Function"))
			if gradual && groups != functions || !gradual && groups > 0 {
				t.Errorf("%d functions have %d deployment groups", functions, groups)
			}
		})
	}
	type group struct {
		AlarmConfiguration struct {
			Enabled bool
			Alarms  []struct{ Name ref }
		}
	}
	alarms := properties[alarm](t, production(t), "AWS::CloudWatch::Alarm")
	for name, g := range properties[group](t, production(t), "AWS::CodeDeploy::DeploymentGroup") {
		if !g.AlarmConfiguration.Enabled || len(g.AlarmConfiguration.Alarms) == 0 {
			t.Errorf("%s watches no alarm", name)
		}
		for _, watched := range g.AlarmConfiguration.Alarms {
			if _, ok := alarms[watched.Name.Ref]; !ok {
				t.Errorf("%s watches %s, which is no alarm", name, watched.Name.Ref)
			}
		}
	}
}

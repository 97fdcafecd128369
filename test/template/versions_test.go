package template

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/budget"
)

// TestVersions checks that a change of a parameter alone publishes a version: the version's
// description names the parameters that the function reads, except the name of the build, which
// only the log shows. The version before remains.
func TestVersions(t *testing.T) {
	type version struct {
		FunctionName ref
		Description  any
	}
	s := production(t)
	functions := properties[function](t, s, "AWS::Lambda::Function")
	versions := properties[version](t, s, "AWS::Lambda::Version")
	if len(versions) != len(functions) {
		t.Errorf("%d functions have %d versions, want one each", len(functions), len(versions))
	}
	for name, v := range versions {
		f := functions[v.FunctionName.Ref]
		var reads, names []string
		for parameter := range s.Parameters {
			if parameter != "Build" && refers([]any{f.Environment.Variables, f.MemorySize, f.TracingConfig}, parameter) {
				reads = append(reads, parameter)
			}
			if text, _ := v.Description.(map[string]any)["Fn::Sub"].(string); strings.Contains(text, "${"+parameter+"}") {
				names = append(names, parameter)
			}
		}
		slices.Sort(reads)
		slices.Sort(names)
		if !slices.Equal(reads, names) {
			t.Errorf("%s reads the parameters %v, and the description of %s names %v", v.FunctionName.Ref, reads, name, names)
		}
		r := s.Resources[name]
		if r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %q and %q, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
	}
}

// TestTimeouts checks that Lambda stops a function a second after its budget. TestDeadline, in
// internal/api, checks the budget that a function gives its store.
func TestTimeouts(t *testing.T) {
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		want := budget.OperationTimeout
		if name == "AuthorizerFunction" {
			want = budget.AuthorizerTimeout
		}
		if got := time.Duration(f.Timeout) * time.Second; got != want {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

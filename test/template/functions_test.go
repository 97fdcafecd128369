package template

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"plantstore/internal/budget"
)

// function is what the rules read of an AWS::Lambda::Function.
type function struct {
	Environment   struct{ Variables map[string]string }
	LoggingConfig any
	MemorySize    any
	Role          string
	Timeout       int // seconds

	AutoPublishAliasAllProperties bool // of SAM's own type
}

// TestTimeoutsAndHeap checks that Lambda stops a function at its timeout in package budget, and that the limit of
// its heap is below the least memory. TestOutcomes and TestAuthorizer, in internal/api, check how long a function
// waits for its store.
func TestTimeoutsAndHeap(t *testing.T) {
	s := production(t)
	leastMemory := s.Parameters["Memory"].AllowedValues[0].(float64)
	for name, f := range resources[function](t, s, "AWS::Lambda::Function") {
		var heap float64
		_, err := fmt.Sscanf(f.Environment.Variables["GOMEMLIMIT"], "%fMiB", &heap)
		if err != nil || heap >= leastMemory {
			t.Errorf("the heap of %s has the limit %v, %v, want less than %v", name, heap, err, leastMemory)
		}
		want := budget.OperationTimeout
		if name == "AuthorizerFunction" {
			want = budget.AuthorizerTimeout
		}
		if got := time.Duration(f.Timeout) * time.Second; got != want {
			t.Errorf("%s is stopped after %v, want %v", name, got, want)
		}
	}
}

// TestVersions checks that every change of a function publishes a version, and that a change of a parameter alone
// does so too: the version's description names the parameters that the function reads, except the name of the
// build, which only the log shows. The longest values have room in the description.
func TestVersions(t *testing.T) {
	for name, f := range resources[function](t, translated(t).Stacks["template.yaml"], "AWS::Serverless::Function") {
		if !f.AutoPublishAliasAllProperties {
			t.Errorf("only new code publishes a version of %s", name)
		}
	}
	type version struct{ FunctionName, Description string }
	s := production(t)
	functions := resources[function](t, s, "AWS::Lambda::Function")
	for name, v := range resources[version](t, s, "AWS::Lambda::Version") {
		f := functions[referenced(v.FunctionName)]
		read := fmt.Sprint(f.Environment.Variables, f.MemorySize, f.LoggingConfig)
		longest := v.Description
		for name, parameter := range s.Parameters {
			reference := "${" + name + "}"
			isRead := name != "Build" && strings.Contains(read, reference)
			if isNamed := strings.Contains(v.Description, reference); isRead != isNamed {
				t.Errorf("%s reads %s = %t, and the description of its version names it = %t", v.FunctionName, name, isRead, isNamed)
			}
			length := parameter.MaxLength
			for _, value := range parameter.AllowedValues {
				length = max(length, len(fmt.Sprint(value)))
			}
			noLimit := 1000
			longest = strings.ReplaceAll(longest, reference, strings.Repeat("x", cmp.Or(length, noLimit)))
		}
		if len(longest) > 256 {
			t.Errorf("the description of %s may have %d characters, want 256 at most", name, len(longest))
		}
	}
}

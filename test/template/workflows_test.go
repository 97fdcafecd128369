package template

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"
)

// ciWorkflow returns what starts the workflow ci and each of its jobs, and with which rights.
var ciWorkflow = []value{
	{"ci*", "permissions", `{"contents":"read"}`},
	{"ci", "on.pull_request", "null"},  // of a fork too, so without rights
	{"ci", "on.workflow_call", "null"}, // part: github
	{"ci/check", "steps.4", `{"run":".ci/run"}`},
	{"ci/vulnerabilities", "if", "github.event_name == 'pull_request' || github.event_name == 'schedule'"},
}

// TestWorkflow checks the table of ci.
func TestWorkflow(t *testing.T) {
	workflow(t, "ci").check(t, ciWorkflow, mustBeListed)
}

// workflow returns what a workflow and its jobs have.
func workflow(t *testing.T, name string) nodes {
	t.Helper()
	n := maps.Clone(translated(t).Workflows)
	maps.DeleteFunc(n, func(place, _ string) bool {
		of, _, _ := strings.Cut(place, ".")
		return of != name && !strings.HasPrefix(of, name+"/")
	})
	return n
}

// mustBeListed reports whether a place is about what starts a workflow or a job, in which order, and with which
// rights.
func mustBeListed(place, _ string) bool {
	_, member, _ := strings.Cut(place, ".")
	isOther := func(other string) bool { return strings.HasPrefix(member+".", other+".") }
	return !slices.ContainsFunc([]string{"name", "runs-on", "timeout-minutes", "steps", "on.schedule", "on.workflow_dispatch"}, isOther)
}

// TestSteps checks that in no workflow a value becomes the text of a command, or a clone keeps a token, and that
// an action is what it was when somebody read it.
func TestSteps(t *testing.T) {
	n := translated(t).Workflows
	for place, text := range n {
		if strings.HasSuffix(place, ".run") && strings.Contains(text, "${{") {
			t.Errorf("%s is %q, want its values in the environment", place, text)
		}
		if strings.HasSuffix(place, ".continue-on-error") {
			t.Errorf("%s hides a failure", place)
		}
		step, isAction := strings.CutSuffix(place, ".uses")
		if !isAction || !strings.Contains(place, ".steps.") {
			continue
		}
		action, version, _ := strings.Cut(text, "@")
		if commit, err := hex.DecodeString(version); err != nil || len(commit) != 20 {
			t.Errorf("%s is %s, want a commit", place, text)
		}
		if action == "actions/checkout" && n[step+".with.persist-credentials"] != "false" {
			t.Errorf("%s leaves its token in the clone", place)
		}
	}
}

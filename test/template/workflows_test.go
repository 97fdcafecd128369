package template

import (
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what the rules read of a file in .github/workflows.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions     any
		ContinueOnError any `yaml:"continue-on-error"`
		Steps           []struct {
			Run, Uses       string
			With            map[string]string
			ContinueOnError any `yaml:"continue-on-error"`
		}
	}
}

// workflows returns each workflow, by its file.
func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are the workflows %q, %v", files, err)
	}
	found := map[string]workflow{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var decoded workflow
		if err := yaml.Unmarshal(content, &decoded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[file] = decoded
	}
	return found
}

// TestWorkflowSteps checks that in no workflow a value becomes the text of a command, a failure is hidden, or a
// clone keeps a token, and that an action is what it was when somebody read it.
func TestWorkflowSteps(t *testing.T) {
	for file, w := range workflows(t) {
		for name, job := range w.Jobs {
			for i, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: step %d of %s is %q, want its values in the environment", file, i, name, step.Run)
				}
				if step.ContinueOnError != nil || job.ContinueOnError != nil {
					t.Errorf("%s: step %d of %s hides a failure", file, i, name)
				}
				if step.Uses == "" {
					continue
				}
				action, version, _ := strings.Cut(step.Uses, "@")
				if commit, err := hex.DecodeString(version); err != nil || len(commit) != 20 {
					t.Errorf("%s: step %d of %s is %s, want a commit", file, i, name, step.Uses)
				}
				if action == "actions/checkout" && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: step %d of %s leaves its token in the clone", file, i, name)
				}
			}
		}
	}
}

// TestWorkflowRights checks that a workflow may only read, and that no job takes rights of its own.
func TestWorkflowRights(t *testing.T) {
	for file, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s may do %v, want contents: read", file, w.Permissions)
		}

		if file == ".github/workflows/deploy.yml" {
			continue // TestDeployWorkflow compares its jobs with a list
		}

		for name, job := range w.Jobs {
			if job.Permissions != nil {
				t.Errorf("%s: %s may do %v, want no permissions but those of the workflow", file, name, job.Permissions)
			}
		}
	}
}

// TestCI checks that the workflow ci runs all checks, for each pull request.
func TestCI(t *testing.T) {
	ci := readWorkflow(t, ".github/workflows/ci.yml")
	on, _ := ci["on"].(object)
	events := []string{"pull_request"}
	events = append(events, "workflow_call")
	for _, event := range events {
		if filter, isThere := on[event]; !isThere || filter != nil {
			t.Errorf("ci starts on %v, want it to start on each %s", on, event)
		}
	}
	jobs, _ := ci["jobs"].(object)
	check, _ := jobs["check"].(object)
	steps, _ := check["steps"].([]any)
	if len(steps) == 0 {
		t.Fatal("the job check of ci has no steps")
	}
	compare(t, "last step", steps[len(steps)-1], object{"run": ".ci/run"})
	delete(check, "runs-on")
	delete(check, "timeout-minutes")
	delete(check, "steps")
	compare(t, "job check", check, object{}) // without a condition, and without defaults
	vulnerabilities, _ := jobs["vulnerabilities"].(object)
	compare(t, "condition of vulnerabilities", vulnerabilities["if"], "github.event_name == 'pull_request' || github.event_name == 'schedule'")
	steps, _ = vulnerabilities["steps"].([]any)
	compare(t, "last step of vulnerabilities", steps[len(steps)-1], object{"run": "make vulnerabilities"})
	if on["schedule"] == nil {
		t.Error("ci does not run each week")
	}
}

// readWorkflow returns what a workflow says. Only a job may have an environment or defaults.
func readWorkflow(t *testing.T, file string) object {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _ := decodeYAML(t, string(content)).(object)
	for _, name := range slices.Sorted(maps.Keys(decoded)) {
		if !slices.Contains([]string{"name", "on", "permissions", "jobs"}, name) {
			t.Errorf("%s has %s, want it in the jobs that need it", file, name)
		}
	}
	return decoded
}

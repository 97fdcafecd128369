package template

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// samconfig returns what the blocks of samconfig.toml say: each deploys a stack of its own, tagged with its own
// name. Without the profile of the local AWS, its stack would get into an account.
func samconfig() []value {
	rows := []value{
		{"local", "profile", "plant-store-local"},
		{"*", "resolve_s3", "true"},
		{"*", "force_upload", "true"}, // not what is in SAM's bucket
		{"*", "capabilities", "CAPABILITY_IAM"},
		{"*", "fail_on_empty_changeset", "false"},
		{"*", "parameter_overrides.0", "file://environments.yaml"},
		{"*", "parameter_overrides.2", "file://.aws-sam/build/parameters.yaml"},
	}
	for _, environment := range []struct{ block, name, stage string }{
		{block: "default", name: "dev", stage: "dev"},
		{block: "dev", name: "dev", stage: "dev"},
		{block: "staging", name: "staging", stage: "staging"},
		{block: "production", name: "production", stage: "production"},
		{block: "local", name: "local", stage: "dev"},
	} {
		rows = append(rows,
			value{environment.block, "stack_name", "plant-store-" + environment.name},
			value{environment.block, "tags", "Project=plant-store Stage=" + environment.name},
			value{environment.block, "parameter_overrides.1.Stage", environment.stage})
	}
	return rows
}

// TestSamconfig checks the table of samconfig.toml, and that `sam deploy` as typed deploys dev.
func TestSamconfig(t *testing.T) {
	n := translated(t).Samconfig
	n.check(t, samconfig(), func(place, _ string) bool { return !strings.Contains(place, ".parameter_overrides.1.") })
	if n["default"] != n["dev"] {
		t.Errorf("`sam deploy` deploys %s, want dev: %s", n["default"], n["dev"])
	}
}

// TestEnvironments checks that each environment sets every parameter but those of a build, because SAM keeps
// the old value of one that is left out. No two take each other's JWTs. In production, RefusalsAlarm is on.
func TestEnvironments(t *testing.T) {
	want := slices.Sorted(maps.Keys(production(t).Parameters))
	audiences := map[any]bool{}
	shared, err := os.ReadFile("environments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dev", "staging", "production", "local"} {
		var parameters object
		if err := yaml.Unmarshal(shared, &parameters); err != nil { // it refuses a parameter that is there twice
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(translated(t).Samconfig[name+".parameter_overrides.1"]), &parameters); err != nil {
			t.Fatal(err)
		}
		got := append(slices.Collect(maps.Keys(parameters)), "Architecture", "Build", "Shift")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s and its build set %v, want %v", name, got, want)
		}
		audience := parameters["TokenAudience"]
		if audience != "" && audiences[audience] {
			t.Errorf("%s takes JWTs for %s, as another environment does", name, audience)
		}
		audiences[audience] = true
		if name == "production" && fmt.Sprint(parameters["RefusalLimit"]) == "100" {
			t.Error("RefusalsAlarm is off in production")
		}
	}
}

// workflows returns what starts each workflow and each job, in which order, and with which rights. A job with
// rights has an environment, so GitHub's rules for that apply, and is alone in it.
func workflows() []value {
	rows := []value{
		{"*", "permissions", `{"contents":"read"}`},
		{"ci", "on.pull_request", "null"}, // of a fork too, so without rights
		{"ci", "on.workflow_call", "null"},
		{"ci/check", "steps.4", `{"run":".ci/run"}`},
		{"ci/vulnerabilities", "if", "github.event_name == 'pull_request' || github.event_name == 'schedule'"},
		{"deploy", "on.push", `{"branches":["main"]}`},
		{"deploy/check", "if", "github.event_name == 'push'"},
		{"deploy/check", "uses", "./.github/workflows/ci.yml"},
		{"deploy/staging", "needs", "check"},
		{"deploy/staging", "if", "vars.AWS_REGION != ''"},
		{"deploy/production", "needs", "staging"},
		{"deploy/production", "if", "vars.PRODUCTION_HAS_REVIEWERS == 'true'"},
		{"deploy/by-hand", "if", "github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main' && vars.AWS_REGION != ''"},
	}
	for _, job := range []struct{ name, environment, shift string }{
		{name: "deploy/staging", environment: "staging", shift: "gradual"},
		{name: "deploy/production", environment: "production", shift: "gradual"},
		{name: "deploy/by-hand", environment: "${{ inputs.environment }}", shift: "${{ inputs.shift }}"},
	} {
		variables := `{"ENV":"` + job.environment + `","S3_PREFIX":"github/plant-store-` + job.environment + `","SHIFT":"` + job.shift + `"}`
		rows = append(rows,
			value{job.name, "environment", job.environment},
			value{job.name, "env", variables},
			value{job.name, "concurrency", `{"cancel-in-progress":false,"group":"deploy-` + job.environment + `"}`},
			value{job.name, "permissions", `{"actions":"read","contents":"read","id-token":"write"}`},
			value{job.name, "steps.0.with", `{"fetch-depth":0,"persist-credentials":false,"ref":"${{ inputs.commit || github.sha }}"}`},
			value{job.name, "steps.1.if", "github.event_name == 'workflow_dispatch'"},
			value{job.name, "steps.1.env", `{"GH_TOKEN":"${{ github.token }}"}`},
			value{job.name, "steps.2.with", `{"cache":false,"go-version-file":"go.mod"}`},
			value{job.name, "steps.4.run", "pip install --quiet --require-hashes --no-deps -r tools/requirements/sam.txt"},
			value{job.name, "steps.5.with", `{"aws-region":"${{ vars.AWS_REGION }}","role-to-assume":"${{ vars.DEPLOY_ROLE }}"}`},
			value{job.name, "steps.6.run", `deploy/deploy "$ENV" "$SHIFT"`})
	}
	return rows
}

// TestWorkflows checks the table of workflows, and that no value becomes the text of a command, no clone keeps
// a token, and an action is what it was when somebody read it.
func TestWorkflows(t *testing.T) {
	n := translated(t).Workflows
	n.check(t, workflows(), func(place, _ string) bool {
		workflow, member, _ := strings.Cut(place, ".")
		if strings.HasPrefix(workflow, "deploy/") && strings.HasPrefix(member, "steps.") {
			return !slices.Contains([]string{"steps.1.run", "steps.3.with.python-version"}, member) && !strings.HasSuffix(member, ".uses")
		}
		isOther := func(other string) bool { return strings.HasPrefix(member+".", other+".") }
		return !slices.ContainsFunc([]string{"name", "runs-on", "timeout-minutes", "steps", "on.schedule", "on.workflow_dispatch"}, isOther)
	})
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

package template

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// environments are those of samconfig.toml, each with its stage.
var environments = []struct{ name, stage string }{
	{name: "dev", stage: "dev"},
	{name: "staging", stage: "staging"},
	{name: "production", stage: "production"},
	{name: "local", stage: "dev"},
}

// samconfig returns what the blocks of samconfig.toml say: each deploys a stack of its own, with its own
// parameters, tagged with its own name. Without the profile of the local AWS, its stack would get into an account.
func samconfig() []value {
	rows := []value{
		{"local", "profile", "plant-store-local"},
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

// TestEnvironments checks that no two environments take each other's JWTs, and that RefusalsAlarm is on in
// production. The tests of tools/parameters check that each environment sets every parameter.
func TestEnvironments(t *testing.T) {
	audiences := map[any]bool{}
	for _, environment := range environments {
		var parameters object
		for _, name := range []string{"shared", environment.name} {
			content, err := os.ReadFile("environments/" + name + ".yaml")
			if err == nil {
				err = yaml.Unmarshal(content, &parameters)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if parameters["Stage"] != environment.stage {
			t.Errorf("%s has the stage %v, want %s", environment.name, parameters["Stage"], environment.stage)
		}
		audience := parameters["TokenAudience"]
		if audience != "" && audiences[audience] {
			t.Errorf("%s takes JWTs for %s, as another environment does", environment.name, audience)
		}
		audiences[audience] = true
		if environment.name == "production" && fmt.Sprint(parameters["RefusalLimit"]) == "100" {
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

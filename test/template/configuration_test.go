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

// samconfig has what each environment deploys. Without the profile of the local AWS, its stack would get into
// an account.
var samconfig = []value{
	{"d*", "stack_name", "plant-store-dev"}, // dev and default
	{"staging", "stack_name", "plant-store-staging"},
	{"production", "stack_name", "plant-store-production"},
	{"local", "stack_name", "plant-store-local"},
	{"local", "profile", "plant-store-local"},
	{"d*", "tags", "Project=plant-store Stage=dev"},
	{"staging", "tags", "Project=plant-store Stage=staging"},
	{"production", "tags", "Project=plant-store Stage=production"},
	{"local", "tags", "Project=plant-store Stage=local"},
	{"*", "resolve_s3", "true"},
	{"*", "force_upload", "true"}, // not what is in SAM's bucket
	{"*", "capabilities", "CAPABILITY_IAM"},
	{"*", "fail_on_empty_changeset", "false"},
	{"*", "parameter_overrides.0", "file://environments.yaml"},
	{"d*", "parameter_overrides.1.Stage", "dev"},
	{"staging", "parameter_overrides.1.Stage", "staging"},
	{"production", "parameter_overrides.1.Stage", "production"},
	{"local", "parameter_overrides.1.Stage", "dev"},
	{"*", "parameter_overrides.2", "file://.aws-sam/build/parameters.yaml"},
}

// TestSamconfig checks the table of samconfig.toml, and that `sam deploy` as typed deploys dev.
func TestSamconfig(t *testing.T) {
	n := translated(t).Samconfig
	n.check(t, samconfig, func(place, _ string) bool { return !strings.Contains(place, ".parameter_overrides.1.") })
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

// alone is the concurrency of a job: others of the environment wait until it has ended.
func alone(environment string) string {
	return `{"cancel-in-progress":false,"group":"deploy-` + environment + `"}`
}

// workflows has what starts each workflow and each job, in which order, and with which rights. A job with
// rights has an environment, so GitHub's rules for that apply.
var workflows = []value{
	{"*", "permissions", `{"contents":"read"}`},
	{"ci", "on.pull_request", "null"}, // of a fork too, so without rights
	{"ci", "on.workflow_call", "null"},
	{"ci/vulnerabilities", "if", "github.event_name == 'pull_request' || github.event_name == 'schedule'"},
	{"deploy", "on.push", `{"branches":["main"]}`},
	{"deploy/check", "if", "github.event_name == 'push'"},
	{"deploy/check", "uses", "./.github/workflows/ci.yml"},
	{"deploy/staging", "needs", "check"},
	{"deploy/staging", "if", "vars.AWS_REGION != ''"},
	{"deploy/staging", "environment", "staging"},
	{"deploy/staging", "env", `{"ENV":"staging","S3_PREFIX":"github/plant-store-staging","SHIFT":"gradual"}`},
	{"deploy/staging", "concurrency", alone("staging")},
	{"deploy/production", "needs", "staging"},
	{"deploy/production", "if", "vars.PRODUCTION_HAS_REVIEWERS == 'true'"},
	{"deploy/production", "environment", "production"},
	{"deploy/production", "env", `{"ENV":"production","S3_PREFIX":"github/plant-store-production","SHIFT":"gradual"}`},
	{"deploy/production", "concurrency", alone("production")},
	{"deploy/by-hand", "if", "github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main' && vars.AWS_REGION != ''"},
	{"deploy/by-hand", "environment", "${{ inputs.environment }}"},
	{"deploy/by-hand", "env", `{"ENV":"${{ inputs.environment }}","S3_PREFIX":"github/plant-store-${{ inputs.environment }}","SHIFT":"${{ inputs.shift }}"}`},
	{"deploy/by-hand", "concurrency", alone("${{ inputs.environment }}")},
	{"ci/check", "steps.4", `{"run":".ci/run"}`},
	{"deploy/[^c]*", "steps.0.with", `{"fetch-depth":0,"persist-credentials":false,"ref":"${{ inputs.commit || github.sha }}"}`},
	{"deploy/[^c]*", "steps.1.if", "github.event_name == 'workflow_dispatch'"},
	{"deploy/[^c]*", "steps.1.env", `{"GH_TOKEN":"${{ github.token }}"}`},
	{"deploy/[^c]*", "steps.2.with", `{"cache":false,"go-version-file":"go.mod"}`},
	{"deploy/[^c]*", "steps.4.run", "pip install --quiet --require-hashes --no-deps -r tools/requirements/sam.txt"},
	{"deploy/[^c]*", "steps.5.with", `{"aws-region":"${{ vars.AWS_REGION }}","role-to-assume":"${{ vars.DEPLOY_ROLE }}"}`},
	{"deploy/[^c]*", "steps.6.run", `deploy/deploy "$ENV" "$SHIFT"`},
	{"deploy/[^c]*", "permissions", `{"actions":"read","contents":"read","id-token":"write"}`},
}

// TestWorkflows checks the table of workflows, and that no value becomes the text of a command, no clone keeps
// a token, and an action is what it was when somebody read it.
func TestWorkflows(t *testing.T) {
	n := translated(t).Workflows
	n.check(t, workflows, func(place, _ string) bool {
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

package template

import (
	"slices"
	"strings"
	"testing"
)

// deployWorkflow returns what starts the workflow deploy and each of its jobs, in which order, and with which
// rights. A job with rights has an environment, so GitHub's rules for that apply, and is alone in it.
func deployWorkflow() []value {
	rows := []value{
		{"deploy", "permissions", `{"contents":"read"}`},
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

// TestDeployWorkflow checks the table of deploy, which also has each step of a job with rights.
func TestDeployWorkflow(t *testing.T) {
	workflow(t, "deploy").check(t, deployWorkflow(), func(place, text string) bool {
		job, member, _ := strings.Cut(place, ".")
		if strings.HasPrefix(job, "deploy/") && strings.HasPrefix(member, "steps.") {
			return !slices.Contains([]string{"steps.1.run", "steps.3.with.python-version"}, member) && !strings.HasSuffix(member, ".uses")
		}
		return mustBeListed(place, text)
	})
}

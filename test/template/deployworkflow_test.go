package template

import (
	"strings"
	"testing"
)

// deployJobs are the jobs of the workflow deploy: what starts each, after which other, with which rights, and its steps.
// A job with rights has an environment, so GitHub's rules for that apply, and is alone in it. The commits of the
// actions are left out, and the command that looks for the check of a commit, which deploy/workflow_test.go runs.
const deployJobs = `
check: {if: github.event_name == 'push', uses: ./.github/workflows/ci.yml}
staging:
  needs: check
  if: vars.AWS_REGION != ''
  environment: staging
  concurrency: {group: deploy-staging, cancel-in-progress: false}
  env: {ENV: staging, SHIFT: gradual, S3_PREFIX: github/plant-store-staging}
  permissions: &permissions {actions: read, contents: read, id-token: write}
  steps: &steps
    - uses: actions/checkout
      with: {ref: '${{ inputs.commit || github.sha }}', persist-credentials: false, fetch-depth: 0}
    - if: github.event_name == 'workflow_dispatch'
      env: {GH_TOKEN: '${{ github.token }}'}
    - uses: actions/setup-go
      with: {go-version-file: go.mod, cache: false}
    - uses: actions/setup-python
      with: {python-version: '3.11'}
    - run: pip install --quiet --require-hashes --no-deps -r tools/requirements/sam.txt
    - uses: aws-actions/configure-aws-credentials
      with: {role-to-assume: '${{ vars.DEPLOY_ROLE }}', aws-region: '${{ vars.AWS_REGION }}'}
    - run: deploy/deploy "$ENV" "$SHIFT"
production:
  needs: staging
  if: vars.PRODUCTION_HAS_REVIEWERS == 'true'
  environment: production
  concurrency: {group: deploy-production, cancel-in-progress: false}
  env: {ENV: production, SHIFT: gradual, S3_PREFIX: github/plant-store-production}
  permissions: *permissions
  steps: *steps
by-hand:
  if: github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main' && vars.AWS_REGION != ''
  environment: ${{ inputs.environment }}
  concurrency: {group: 'deploy-${{ inputs.environment }}', cancel-in-progress: false}
  env: {ENV: '${{ inputs.environment }}', SHIFT: '${{ inputs.shift }}', S3_PREFIX: 'github/plant-store-${{ inputs.environment }}'}
  permissions: *permissions
  steps: *steps`

// TestDeployWorkflow checks that a push to main alone starts the workflow, unless a person does, and that the jobs are those listed.
func TestDeployWorkflow(t *testing.T) {
	deploy := readWorkflow(t, ".github/workflows/deploy.yml")
	on, _ := deploy["on"].(object)
	delete(on, "workflow_dispatch")
	if got, want := inJSON(on), `{"push":{"branches":["main"]}}`; got != want {
		t.Errorf("deploy starts on %s, want %s", got, want)
	}
	jobs, _ := deploy["jobs"].(object)
	for _, job := range jobs {
		job, _ := job.(object)
		delete(job, "runs-on")
		delete(job, "timeout-minutes")
		steps, _ := job["steps"].([]any)
		for i, step := range steps {
			step, _ := step.(object)
			if action, isAction := step["uses"].(string); isAction {
				step["uses"], _, _ = strings.Cut(action, "@")
			}
			if i == 1 {
				delete(step, "run")
			}
		}
	}
	compare(t, "jobs", jobs, decodeYAML(t, deployJobs))
}

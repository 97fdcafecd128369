package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// standInGH answers as GitHub: each commit of main has a run of the workflow, whose check ended as the
// variable CHECK says, and a check run of the same name that somebody forged.
const standInGH = `#!/bin/sh
case "$*" in
*/check-runs*) echo success ;;
"api --method GET repos/o/r/actions/workflows/deploy.yml/runs -f event=push -f branch=main -f head_sha=$(git rev-parse HEAD) "*) echo 7 ;;
"api repos/o/r/actions/runs/7/jobs"*'.name == "check / check"'*) echo $CHECK ;;
*) exit 1 ;;
esac
`

// history makes main with three commits: the first and the last were its head, the second came with a merge, and
// somebody gave it a tag that git takes for the branch.
const history = `
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.com
git init --quiet --initial-branch=main
echo old >samconfig.toml; mkdir environments; touch environments/shared.yaml; git add .; git commit --quiet --message=first; git tag first
git checkout --quiet -b side; git commit --quiet --allow-empty --message=side; git tag side; git tag origin/main
git checkout --quiet main; git merge --quiet --no-ff side
echo new >samconfig.toml; echo new >environments/shared.yaml; git commit --quiet --all --message=last; git tag last
git update-ref refs/remotes/origin/main HEAD
`

// TestByHand runs the step of deploy.yml that decides which commits may be deployed by hand.
func TestByHand(t *testing.T) {
	content, err := os.ReadFile("../.github/workflows/deploy.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ If, Run string }
		}
	}
	if err := yaml.Unmarshal(content, &workflow); err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, step := range workflow.Jobs["by-hand"].Steps {
		if step.If == "github.event_name == 'workflow_dispatch'" {
			script = step.Run
		}
	}
	tests := []struct {
		name, commit, check string
		refusal             string
	}{
		{name: "an old commit of main that has passed is deployed, with the newest configuration", commit: "first", check: "success"},
		{name: "a commit that has failed is refused", commit: "last", check: "failure", refusal: "no push of this commit has passed"},
		{name: "a commit whose check runs still is refused", commit: "last", check: "null", refusal: "no push of this commit has passed"},
		{name: "a commit that was never the head of main is refused", commit: "side", check: "success", refusal: "never the head of main"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "path/gh"), standInGH)
			project := filepath.Join(folder, "project")
			if err := os.Mkdir(project, 0o700); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "bash", "-e", "-c", history+"git checkout --quiet "+test.commit+"\n"+script)
			command.Dir = project
			command.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "path")+":"+os.Getenv("PATH"), "GITHUB_REPOSITORY=o/r", "CHECK="+test.check)
			output, err := command.CombinedOutput()
			if (err != nil) != (test.refusal != "") || !strings.Contains(string(output), test.refusal) {
				t.Errorf("the step ends with %v and prints %s, want the refusal %q", err, output, test.refusal)
			}
			for _, file := range []string{"samconfig.toml", "environments/shared.yaml"} {
				if err == nil && read(t, filepath.Join(project, file)) != "new\n" {
					t.Errorf("%s is that of the old commit", file)
				}
			}
		})
	}
}

// Package deploy tests the scripts of this folder: deploy and smoke-test with stand-ins for the
// programs that they call, restore with DynamoDB Local. It also tests how tokens are revoked in an emergency.
package deploy

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// The stand-ins for programs share a folder. Its file status has the status of the stack, NONE if there is
// none. What they are asked for is in the file calls.
const (
	standInAWS = `#!/bin/sh
case "$(cat status)/$*" in
NONE/*describe-stacks*)
	echo "An error occurred (ValidationError): Stack with id plant-store-staging does not exist" >&2
	exit 254 ;;
*"sts get-caller-identity") echo '{"Account": "123456789012"}' ;;
*"--output=json cloudformation describe-stacks --stack-name=plant-store-staging")
	echo '{"Stacks": [{"StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/s/1", "StackStatus": "'$(cat status)'", "CreationTime": "1"}]}' ;;
*"--output=json "*) exit 254 ;;
*StackStatus*) cat status; echo >>asked ;;
THROTTLED*"'Build'"*)
	echo "An error occurred (Throttling): Rate exceeded" >&2
	exit 254 ;;
BRANCH*"'Build'"*) echo 2222222000000000000000000000000000000000 ;;
EVIL*"'Build'"*) echo '1111111000000000000000000000000000000000;touch evil' ;;
*"'Build'"*) echo 1111111000000000000000000000000000000000-dirty 2026-11-22T12:00:00Z ;;
HTTP*"'Url'"*) echo http://api ;;
ELSEWHERE*"'Url'"*) echo https://other.example/_aws/execute-api/x ;;
EVIL*"'Url'"*) echo "https://api'; touch evil; : '" ;;
*"'Url'"*) echo https://api ;;
*"'AlarmTopic'"*) echo TOPIC ;;
*cancel-update-stack*)
	grep -qx UPDATE_IN_PROGRESS status || exit 1
	echo cancel >>calls
	echo UPDATE_ROLLBACK_IN_PROGRESS >status ;;
*"wait stack-rollback-complete"*) echo wait >>calls; grep -qx UPDATE_ROLLBACK_COMPLETE status ;;
*"sns publish --topic-arn TOPIC "*"stack                plant-store-staging: $(cat status);"*) echo publish >>calls ;;
*) exit 2 ;;
esac
`
	helpers = `#!/bin/sh
state() { cat status; }
until_calls() { until [ "$(grep -cx "$1" calls)" -ge "$2" ]; do sleep 0.05; done; }
until_asked() { until [ -s asked ]; do sleep 0.05; done; }
`
	standInStack = helpers + `
[ "$1" = staging ] || exit 2
echo "deploy-$2" >>calls
`
	standInContract = helpers + `
[ "$URL/$SUBJECT/$TOKEN/$OTHER_TOKEN/$WRITES" = https://api/smoke-test/smoke-test-token/smoke-test-other-token/ ] || exit 2
seen=$(state)
if [ "$seen" = UPDATE_IN_PROGRESS ]; then echo test-update; else echo test; fi >>calls
`
	standInPlantstore = `#!/bin/sh
case "$*" in
"token issue --stack plant-store-staging --subject smoke-test"*" --ttl 15m") echo "$6-token" ;;
"token revoke --stack plant-store-staging -") echo "revoke-$(cat)" >>calls ;;
*) exit 2 ;;
esac
`
	// A service that knows which tokens are revoked, unless it is BLIND.
	standInCurl = `#!/bin/sh
token=$(sed -n 's/^Authorization: Bearer //p')
if grep -q "revoke-$token" calls && ! grep -q BLIND status; then
	echo '{"error":2003,"message":"A message."}'
else
	echo '{"error":1002,"message":"A message."}'
fi
`
	// A git whose main was at the commits in the file main, and whose tree has the changes in the file changes.
	standInGit = `#!/bin/sh
case "$*" in
"status --porcelain --untracked-files=no -- . :!samconfig.toml :!environments") cat changes ;;
"rev-list --first-parent refs/remotes/origin/main") cat main ;;
*) exit 2 ;;
esac
`
)

const (
	commit   = "1111111000000000000000000000000000000000" // the one whose build the stack has
	untested = "echo UPDATE_IN_PROGRESS >status; echo UPDATE_COMPLETE >status"
)

// TestDeploy runs deploy/deploy with stand-ins for a deployment and the contract tests.
func TestDeploy(t *testing.T) {
	t.Parallel()
	const (
		succeeds    = "until_asked; echo UPDATE_IN_PROGRESS >status; until_calls test-update 2; echo UPDATE_COMPLETE >status"
		isCancelled = "echo UPDATE_IN_PROGRESS >status; until_calls cancel 1; echo UPDATE_ROLLBACK_COMPLETE >status; exit 1"
		failsUpdate = `[ "$seen" != UPDATE_IN_PROGRESS ]`
		outlasts    = `until [ "$(state)" != UPDATE_IN_PROGRESS ]; do sleep 0.05; done`
	)
	for _, test := range []struct {
		name       string
		arguments  string // "staging" unless a row says otherwise
		stack      string // its status before, UPDATE_COMPLETE unless a row says otherwise
		changes    string // of files that no commit has
		build      string // the name that is given to the build
		deployment string // what deploy/stack does
		contract   string // what test/contract/run does; it passes unless a row says otherwise
		calls      string // without repetitions
		failure    string // a part of what is said of a failure
	}{
		{
			name:       "a good build is tested before, while traffic shifts, and after",
			deployment: succeeds,
			calls:      "test deploy-gradual test-update test",
		},
		{
			name:  "a stack that AWS does not describe is not deployed untested",
			stack: "THROTTLED",
			calls: "publish", failure: "nothing was deployed",
		},
		{
			name:      "at once, nothing is tested before",
			arguments: "staging at-once", deployment: untested,
			calls: "deploy-at-once test",
		},
		{
			name:       "a build that does not pass before is deployed without a test that could stop it",
			deployment: untested, contract: "grep -q deploy calls",
			calls: "test deploy-gradual test",
		},
		{
			name:       "a test that fails once does not cancel the update",
			deployment: succeeds, contract: `[ "$(grep -cx test-update calls)" -ne 1 ]`,
			calls: "test deploy-gradual test-update test",
		},
		{
			name:       "a test that fails twice while traffic shifts cancels the update",
			deployment: isCancelled, contract: failsUpdate,
			calls:   "test deploy-gradual test-update cancel wait publish",
			failure: "The update was rolled back: plant-store-staging runs the build from before, " + commit + "-dirty",
		},
		{
			name:       "a roll back that fails is said",
			deployment: strings.Replace(isCancelled, "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", 1), contract: failsUpdate,
			calls:   "test deploy-gradual test-update cancel wait publish",
			failure: "the roll back failed too",
		},
		{
			name:       "a deployment that ends before its test fails is not cancelled",
			deployment: "echo UPDATE_IN_PROGRESS >status; until_calls test-update 1; echo UPDATE_COMPLETE >status",
			contract:   `case $(grep -c "^test" calls) in 2) ` + outlasts + `; false ;; 3) false ;; esac`,
			calls:      "test deploy-gradual test-update test publish",
			failure:    "git checkout " + commit + " ",
		},
		{
			name:       "a test that fails afterwards prints the way back",
			deployment: succeeds, contract: `[ "$seen" != UPDATE_COMPLETE ] || ! grep -q deploy calls`,
			calls:   "test deploy-gradual test-update test publish",
			failure: "-f commit=" + commit + "\n",
		},
		{
			name:  "a build that is no commit of main is no way back",
			stack: "BRANCH", arguments: "staging at-once", contract: "false",
			calls:   "deploy-at-once test publish",
			failure: "Its output Build names no commit of main to return to.",
		},
		{
			name:  "a build is data, and no command",
			stack: "EVIL", arguments: "staging at-once",
			calls:   "deploy-at-once publish",
			failure: "Its output Build names no commit of main to return to.",
		},
		{
			name:       "a deployment that fails by itself is not cancelled",
			deployment: "echo UPDATE_IN_PROGRESS >status; until_calls test-update 1; echo UPDATE_ROLLBACK_COMPLETE >status; exit 1",
			contract:   outlasts,
			calls:      "test deploy-gradual test-update publish",
			failure:    "The deployment of plant-store-staging failed",
		},
		{
			name:  "a stack that is not in this account is not created",
			stack: "NONE",
			calls: "", failure: "type: make deploy ENV=staging",
		},
		{
			name:  "the first deployment shows the account, and is tested",
			stack: "NONE", arguments: "staging at-once first", deployment: "echo CREATE_COMPLETE >status",
			calls: "deploy-at-once test",
		},
		{
			name:  "a first deployment that fails its test has no way back",
			stack: "NONE", arguments: "staging gradual first", deployment: "echo CREATE_COMPLETE >status", contract: "false",
			calls:   "deploy-gradual test publish",
			failure: "there is no build to return to",
		},
		{
			name:      "a stack that exists is not deployed for the first time",
			arguments: "staging at-once first",
			calls:     "", failure: "type: deploy/deploy staging at-once",
		},
		{
			name:    "changes that no commit has are not deployed",
			changes: " M internal/api/service.go\n",
			calls:   "", failure: "there are changes that no commit has",
		},
		{
			name:    "changes that no commit has are deployed as a build with a name",
			changes: " M internal/api/service.go\n", build: "b 1", arguments: "staging at-once",
			calls: "deploy-at-once test",
		},
		{
			name:      "an environment that samconfig.toml lacks is not deployed",
			arguments: "prod",
			calls:     "", failure: "samconfig.toml has no environment 'prod'; environments: dev staging",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, test.stack, test.contract)
			write(t, filepath.Join(p.folder, "deploy/stack"), standInStack+test.deployment)
			write(t, filepath.Join(p.folder, "changes"), test.changes)
			arguments := strings.Fields(cmp.Or(test.arguments, "staging"))
			output, status := p.run(t, append([]string{"deploy/deploy"}, arguments...), "BUILD="+test.build)

			if succeeded := status == 0; succeeded != (test.failure == "") {
				t.Errorf("it ends with %d, want success = %t:\n%s", status, test.failure == "", output)
			}
			calls := slices.DeleteFunc(p.calls(t), func(call string) bool { return strings.HasPrefix(call, "revoke-") })
			if got := strings.Join(slices.Compact(calls), " "); got != test.calls {
				t.Errorf("calls = %q, want %q:\n%s", got, test.calls, output)
			}
			if test.stack == "NONE" && !strings.Contains(output, "account              123456789012, eu-central-1\n") {
				t.Errorf("it does not show the account:\n%s", output)
			}
			if strings.Contains(output, "git checkout "+commit+";") {
				t.Errorf("a text of the stack is printed as a command:\n%s", output)
			}
			said := map[string]string{"output": output}
			if slices.Contains(calls, "publish") {
				said["summary"] = read(t, filepath.Join(p.folder, "summary"))
			}
			for name, text := range said {
				if !strings.Contains(text, test.failure) {
					t.Errorf("the %s is %s, want %q in it", name, text, test.failure)
				}
			}
		})
	}
}

// TestSmokeTest runs deploy/smoke-test with stand-ins for AWS, the service and the contract tests.
func TestSmokeTest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		stack    string // decides which address it has, and which tokens it accepts
		endpoint string // of a local AWS, if it is in one
		contract string // what test/contract/run does; it passes unless a row says otherwise
		failure  string // a part of what is said of a failure
	}{
		{name: "a service that keeps the contract passes"},
		{name: "a service that breaks the contract fails", contract: "echo broken; false", failure: "broken"},
		{name: "a service that accepts a revoked token fails", stack: "BLIND", failure: "a revoked token gets"},
		{name: "an interrupted test revokes its tokens", contract: "echo interrupted; kill -TERM $PPID; sleep 1", failure: "interrupted"},
		{name: "an address that is not of HTTPS gets no token", stack: "HTTP", failure: "is no address of an API: http://api"},
		{name: "an address is data, and no command", stack: "EVIL", failure: "is no address of an API"},
		{
			name:  "an address elsewhere gets no token of a stack in a local AWS",
			stack: "ELSEWHERE", endpoint: "http://127.0.0.1:4566", failure: "is no address of an API",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, test.stack, test.contract)
			output, status := p.run(t, []string{"deploy/smoke-test", "plant-store-staging"}, "AWS_ENDPOINT_URL="+test.endpoint)
			if (status != 0) != (test.failure != "") || !strings.Contains(output, test.failure) {
				t.Errorf("it ends with %d and prints %s, want the failure %q", status, output, test.failure)
			}
		})
	}
}

// A project is a copy of the scripts of deploy, with stand-ins for what they call.
type project struct{ folder string }

// newProject returns a project whose stack has a status, UPDATE_COMPLETE if it is empty, and whose test/contract/run
// does what contract says.
func newProject(t *testing.T, stack, contract string) project {
	t.Helper()
	p := project{folder: t.TempDir()}
	for _, script := range []string{"deploy", "smoke-test", "status"} {
		write(t, filepath.Join(p.folder, "deploy", script), read(t, script))
	}
	// Not a wrapper, such as pyenv's, which puts a folder with another aws in front.
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		processtest.Lacks(t, "python3")
	}
	write(t, filepath.Join(p.folder, "path/python3"), "#!/bin/sh\nexec "+strings.TrimSpace(string(python))+` "$@"`)
	for file, content := range map[string]string{
		"path/aws": standInAWS, "path/curl": standInCurl, "path/git": standInGit, "path/make": "#!/bin/sh\n",
		"bin/plantstore": standInPlantstore, "test/contract/run": standInContract + contract,
		"samconfig.toml": "[default.deploy.parameters]\n[dev.deploy.parameters]\n[staging.deploy.parameters]\n",
		"main":           commit + "\n", "calls": "", "status": cmp.Or(stack, "UPDATE_COMPLETE"),
	} {
		write(t, filepath.Join(p.folder, file), content)
	}
	return p
}

// run runs a script of the project in GitHub, with these variables. Then every token that it issued must be revoked
// and masked, and no text of the stack have been a command.
func (p project) run(t *testing.T, script []string, variables ...string) (output string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(p.folder, script[0]), script[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.Env = slices.Concat(variables, []string{
		"PATH=" + filepath.Join(p.folder, "path") + ":" + os.Getenv("PATH"),
		"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + filepath.Join(p.folder, "summary"), "AWS_REGION=eu-central-1",
	})
	out, _ := command.CombinedOutput() // the error is in the status

	counts := map[string]int{}
	for _, call := range p.calls(t) {
		counts[call]++
	}
	tests := counts["test"] + counts["test-update"] // one that passes revokes its own token twice
	if counts["revoke-smoke-test-token"] < tests || counts["revoke-smoke-test-other-token"] != tests {
		t.Errorf("the calls are %v, want that the two tokens of each test are revoked", counts)
	}
	if tests > 0 && !strings.Contains(string(out), "::add-mask::smoke-test-token\n::add-mask::smoke-test-other-token\n") {
		t.Errorf("GitHub does not mask the tokens in its log:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "evil")); err == nil {
		t.Errorf("a text of the stack is a command:\n%s", out)
	}
	return string(out), command.ProcessState.ExitCode()
}

// calls returns what the stand-ins were asked for.
func (p project) calls(t *testing.T) []string {
	t.Helper()
	return strings.Fields(read(t, filepath.Join(p.folder, "calls")))
}

// write writes a file that can be run, in a folder that may not exist yet.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

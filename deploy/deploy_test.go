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
)

// The stand-ins for programs share a folder. Its file status has the status of the stack, NONE if there is
// none. What they are asked for is in the file calls.
const (
	standInAWS = `#!/bin/sh
case "$(cat status)/$*" in
NONE/*)
	echo "An error occurred (ValidationError): Stack with id plant-store-staging does not exist" >&2
	exit 254 ;;
*StackStatus*) cat status; echo >>asked ;;
THROTTLED*"'Build'"*)
	echo "An error occurred (Throttling): Rate exceeded" >&2
	exit 254 ;;
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
*"sns publish --topic-arn TOPIC "*) echo publish >>calls ;;
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
)

// TestDeploy runs deploy/deploy with stand-ins for a deployment and the contract tests.
func TestDeploy(t *testing.T) {
	const (
		succeeds    = "until_asked; echo UPDATE_IN_PROGRESS >status; until_calls test-update 2; echo UPDATE_COMPLETE >status"
		isCancelled = "echo UPDATE_IN_PROGRESS >status; until_calls cancel 1; echo UPDATE_ROLLBACK_COMPLETE >status; exit 1"
		untested    = "echo UPDATE_IN_PROGRESS >status; echo UPDATE_COMPLETE >status"
		failsUpdate = `[ "$seen" != UPDATE_IN_PROGRESS ]`
		outlasts    = `until [ "$(state)" != UPDATE_IN_PROGRESS ]; do sleep 0.05; done`
	)
	for _, test := range []struct {
		name       string
		stack      string // its status before, UPDATE_COMPLETE unless a row says otherwise
		shift      string // of traffic, gradual unless a row says otherwise
		endpoint   string // of a local AWS, if it is in one
		main       string // a commit of main
		deployment string // what deploy/stack does
		contract   string // what test/contract/run does
		calls      string // without repetitions
		failure    string // a part of what is said of a failure
	}{
		{
			name:       "a good build is tested before, while traffic shifts, and after",
			deployment: succeeds, contract: "true",
			calls: "test deploy-gradual test-update test",
		},
		{
			name:  "a stack that AWS does not describe is not deployed untested",
			stack: "THROTTLED", deployment: untested, contract: "true",
			calls:   "publish",
			failure: "nothing was deployed",
		},
		{
			name:  "at once, nothing is tested before",
			shift: "at-once", deployment: untested, contract: "true",
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
			failure: "The update was rolled back: plant-store-staging runs the build from before, 1111111000000000000000000000000000000000-dirty",
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
			failure:    "git checkout 1111111000000000000000000000000000000000 ",
			main:       "1111111000000000000000000000000000000000",
		},
		{
			name:       "a test that fails afterwards prints the way back",
			deployment: succeeds, contract: `[ "$seen" != UPDATE_COMPLETE ] || ! grep -q deploy calls`,
			main:    "1111111000000000000000000000000000000000",
			calls:   "test deploy-gradual test-update test publish",
			failure: "-f commit=1111111000000000000000000000000000000000\n",
		},
		{
			name:  "a build that is no commit of main is no way back",
			shift: "at-once", deployment: "true", contract: "false",
			main:    "2222222222222222222222222222222222222222",
			calls:   "deploy-at-once test publish",
			failure: "Its output Build names no commit of main to return to.",
		},
		{
			name:  "a first deployment that fails its test has no way back",
			stack: "NONE", deployment: "echo CREATE_COMPLETE >status", contract: "false",
			calls:   "deploy-gradual test publish",
			failure: "there is no build to return to",
		},
		{
			name:  "a stack whose address is not of HTTPS gets no token",
			stack: "HTTP", shift: "at-once", deployment: "true", contract: "true",
			calls:   "deploy-at-once publish",
			failure: "The test of plant-store-staging failed",
		},
		{
			name:  "a stack of a local AWS whose address is elsewhere gets no token",
			stack: "ELSEWHERE", shift: "at-once", endpoint: "http://127.0.0.1:4566", deployment: "true", contract: "true",
			calls:   "deploy-at-once publish",
			failure: "The test of plant-store-staging failed",
		},
		{
			name:  "a stack's outputs are data, and no commands",
			stack: "EVIL", shift: "at-once", deployment: "true", contract: "true",
			calls:   "deploy-at-once publish",
			failure: "Its output Build names no commit of main to return to.",
		},
		{
			name:  "an interrupted test revokes its tokens",
			shift: "at-once", deployment: "true", contract: "kill -TERM $PPID; sleep 1",
			calls:   "deploy-at-once test publish",
			failure: "The test of plant-store-staging failed",
		},
		{
			name:  "a service that accepts a revoked token fails the test",
			stack: "BLIND", shift: "at-once", deployment: "true", contract: "true",
			calls:   "deploy-at-once test publish",
			failure: "The test of plant-store-staging failed",
		},
		{
			name:       "a deployment that fails by itself is not cancelled",
			deployment: "echo UPDATE_IN_PROGRESS >status; until_calls test-update 1; echo UPDATE_ROLLBACK_COMPLETE >status; exit 1",
			contract:   outlasts,
			calls:      "test deploy-gradual test-update publish",
			failure:    "The deployment of plant-store-staging failed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, script := range []string{"deploy", "smoke-test"} {
				write(t, filepath.Join(folder, "deploy", script), read(t, script))
			}
			write(t, filepath.Join(folder, "path/aws"), standInAWS)
			write(t, filepath.Join(folder, "path/make"), "#!/bin/sh\n")
			write(t, filepath.Join(folder, "path/curl"), standInCurl)
			write(t, filepath.Join(folder, "path/git"), "#!/bin/sh\necho "+test.main+"\n")
			write(t, filepath.Join(folder, "deploy/stack"), standInStack+test.deployment)
			write(t, filepath.Join(folder, "test/contract/run"), standInContract+test.contract)
			write(t, filepath.Join(folder, "bin/plantstore"), standInPlantstore)
			write(t, filepath.Join(folder, "calls"), "")
			write(t, filepath.Join(folder, "status"), cmp.Or(test.stack, "UPDATE_COMPLETE"))

			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			command := exec.CommandContext(ctx, filepath.Join(folder, "deploy/deploy"), "staging", cmp.Or(test.shift, "gradual"))
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
			command.Env = []string{
				"PATH=" + filepath.Join(folder, "path") + ":" + os.Getenv("PATH"),
				"GITHUB_ACTIONS=true", "AWS_ENDPOINT_URL=" + test.endpoint,
				"GITHUB_STEP_SUMMARY=" + filepath.Join(folder, "summary"),
			}
			output, err := command.CombinedOutput()

			if succeeded := err == nil; succeeded != (test.failure == "") {
				t.Errorf("it ends with %v, want success = %t:\n%s", err, test.failure == "", output)
			}
			all := read(t, filepath.Join(folder, "calls"))
			calls := slices.DeleteFunc(strings.Fields(all), func(call string) bool { return strings.HasPrefix(call, "revoke-") })
			if got := strings.Join(slices.Compact(calls), " "); got != test.calls {
				t.Errorf("calls = %q, want %q:\n%s", got, test.calls, output)
			}
			// A test that passes revokes its own token twice.
			tests, revoked := strings.Count(all, "test\n")+strings.Count(all, "test-update\n"), strings.Count(all, "revoke-smoke-test-other-token\n")
			if revoked != tests || strings.Count(all, "revoke-smoke-test-token\n") < tests {
				t.Errorf("the calls are %q, want that the two tokens of each test are revoked", all)
			}
			if tests > 0 && !strings.Contains(string(output), "::add-mask::smoke-test-token\n::add-mask::smoke-test-other-token\n") {
				t.Errorf("GitHub does not mask the tokens in its log:\n%s", output)
			}
			if _, err := os.Stat(filepath.Join(folder, "evil")); err == nil || strings.Contains(string(output), "git checkout 1111111000000000000000000000000000000000;") {
				t.Errorf("a text of the stack is a command, or printed as one:\n%s", output)
			}
			if test.failure == "" {
				return
			}
			for name, said := range map[string]string{"output": string(output), "summary": read(t, filepath.Join(folder, "summary"))} {
				if !strings.Contains(said, test.failure) {
					t.Errorf("the %s is %s, want %q in it", name, said, test.failure)
				}
			}
		})
	}
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

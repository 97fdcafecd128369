// Package deploy tests the scripts of this folder, with stand-ins for the programs that they call,
// or with DynamoDB Local.
package deploy

import (
	"cmp"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standInAWS prints the answer to what it is asked for, or refuses with it. No part of a stack is described if its
// status is not.
const standInAWS = `
[ "$AWS_DEFAULT_REGION" = eu-central-1 ] || exit 2 # AWS_REGION, as version 1 of the AWS CLI reads it
answer() {
	case $(cat "answers/$1") in "An error"*) cat "answers/$1" >&2; exit 254 ;; esac
	cat "answers/$1"
}
status() { cat answers/StackStatus; }
case "$*" in *describe-stacks*) answer StackStatus >/dev/null ;; esac
case "$*" in
*"--output=json cloudformation describe-stacks --stack-name=plant-store-staging")
	echo '{"Stacks": [{"StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/s/1", "StackName": "plant-store-staging", "StackStatus": "'$(status)'", "CreationTime": "1"}]}' ;;
*"--output=json sts get-caller-identity") echo '{"Account": "123456789012"}' ;;
*"--output=json "*) cat "answers/$5" 2>/dev/null || exit 254 ;;
*StackStatus*) status; echo asked >>calls ;;
*"'Build'"*) answer Build ;;
*"'Url'"*) answer Url ;;
*"'AlarmTopic'"*) answer AlarmTopic ;;
*cancel-update-stack*)
	[ "$(status)" = UPDATE_IN_PROGRESS ] || exit 1
	echo cancel >>calls ;;
*"wait stack-rollback-complete"*) echo wait >>calls; [ "$(status)" = UPDATE_ROLLBACK_COMPLETE ] ;;
*"sns publish --topic-arn TOPIC "*) echo publish >>calls; echo "$*" >published ;;
*) exit 2 ;;
esac
`

// await is a function in sh: it waits until a stand-in has been called so many times, by default once.
const await = `
await() { until [ "$(grep -cx "$1" calls)" -ge "${2:-1}" ]; do sleep 0.05; done; }
`

// deployPrograms are what deploy calls besides smoke-test.
var deployPrograms = map[string]string{
	// What happens to the stack is in the answer update, as sh.
	"deploy/stack": await + `
status() { echo "$1" >answers/StackStatus; }
[ "$1" = staging ] || exit 2
echo "deploy-$2" >>calls
. answers/update
echo ended >>calls
case $(cat answers/StackStatus) in *ROLLBACK*) exit 1 ;; esac
`,
	// The tests are named before1, before2, and so on, and in1 and after1 for those in the update and after it. The
	// answers have the names of those that fail, and of those that last until the update has ended.
	"test/contract/run": callContract + await + `
phase=before call=test
if grep -q deploy- calls; then phase=after; fi
if [ "$(cat answers/StackStatus)" = UPDATE_IN_PROGRESS ]; then phase=in call=test-update; fi
echo $call >>calls
echo $phase >>phases
test=$phase$(grep -cx $phase phases)
if grep -qw $test answers/last; then await ended; fi
! grep -qw $test answers/fail
`,
	"path/git": `
case "$*" in
"status "*) ;;
"rev-list --first-parent refs/remotes/origin/main") echo 1111111000000000000000000000000000000000 ;;
*) exit 2 ;;
esac
`,
}

// TestDeploy runs deploy/deploy with stand-ins for a deployment and the contract tests.
func TestDeploy(t *testing.T) {
	t.Parallel()
	const (
		commit   = "1111111000000000000000000000000000000000" // of main, whose build the stack has
		noStack  = "An error occurred (ValidationError): Stack with id plant-store-staging does not exist"
		untested = "status UPDATE_COMPLETE"
		tested   = "await asked; status UPDATE_IN_PROGRESS; await test-update 2; status UPDATE_COMPLETE"
		canceled = "status UPDATE_IN_PROGRESS; await cancel; status UPDATE_ROLLBACK_COMPLETE"
	)
	tests := []struct {
		name      string
		arguments string            // "staging" unless a row says otherwise
		answers   map[string]string // that differ
		calls     string            // without repetitions
		fails     bool
		says      string // also in the summary and in the message to the topic, if there is one
	}{
		{
			name:    "a good build is tested before, while traffic shifts, and after",
			answers: map[string]string{"update": tested},
			calls:   "test deploy-gradual test-update test",
		},
		{
			name:    "a stack that AWS does not describe is not deployed untested",
			answers: map[string]string{"Build": "An error occurred (Throttling): Rate exceeded"},
			calls:   "publish", fails: true, says: "nothing was deployed",
		},
		{
			name:    "an error that says of something else that it does not exist is no missing stack",
			answers: map[string]string{"StackStatus": "An error occurred (ExpiredToken): The session does not exist"},
			fails:   true, says: "AWS does not describe plant-store-staging, so nothing was deployed.",
		},
		{
			name: "at once, nothing is tested before", arguments: "staging at-once",
			answers: map[string]string{"update": untested},
			calls:   "deploy-at-once test",
		},
		{
			name:    "a build that does not pass before is deployed without a test that could stop it",
			answers: map[string]string{"update": untested, "fail": "before1 before2"},
			calls:   "test deploy-gradual test",
			says:    "so the test does not stop this deployment",
		},
		{
			name:    "a test that fails once does not cancel the update",
			answers: map[string]string{"update": tested, "fail": "in1"},
			calls:   "test deploy-gradual test-update test",
		},
		{
			name:    "a test that fails twice while traffic shifts cancels the update",
			answers: map[string]string{"update": canceled, "fail": "in1 in2"},
			calls:   "test deploy-gradual test-update cancel wait publish",
			fails:   true, says: "The update was rolled back: plant-store-staging runs the build from before, " + commit + "-dirty",
		},
		{
			name:    "a roll back that fails is said",
			answers: map[string]string{"update": "status UPDATE_IN_PROGRESS; await cancel; status UPDATE_ROLLBACK_FAILED", "fail": "in1 in2"},
			calls:   "test deploy-gradual test-update cancel wait publish",
			fails:   true, says: "the roll back failed too",
		},
		{
			name: "a deployment that ends before its test fails is not cancelled",
			answers: map[string]string{
				"update": "status UPDATE_IN_PROGRESS; await test-update; status UPDATE_COMPLETE",
				"last":   "in1", "fail": "in1 after1",
			},
			calls: "test deploy-gradual test-update test publish",
			fails: true, says: "git checkout " + commit + " ",
		},
		{
			name:    "a test that fails afterwards prints the way back",
			answers: map[string]string{"update": tested, "fail": "after1 after2"},
			calls:   "test deploy-gradual test-update test publish",
			fails:   true, says: "deploy/deploy staging at-once\n",
		},
		{
			name: "a build that is no commit of main is no way back", arguments: "staging at-once",
			answers: map[string]string{"Build": "2222222000000000000000000000000000000000", "update": untested, "fail": "after1 after2"},
			calls:   "deploy-at-once test publish",
			fails:   true, says: "is no commit of main, so no command can deploy it again.",
		},
		{
			name: "a function that keeps the version to which somebody moved it by hand", arguments: "staging at-once",
			answers: map[string]string{
				"update": untested,
				"describe-stack-resources": `{"StackResources": [
					{"ResourceType": "AWS::Lambda::Version", "LogicalResourceId": "V", "PhysicalResourceId": "arn:aws:lambda:eu-central-1:123456789012:function:f:2"},
					{"ResourceType": "AWS::Lambda::Function", "LogicalResourceId": "F", "PhysicalResourceId": "f"}]}`,
				"get-alias":                 `{"FunctionVersion": "1"}`,
				"list-versions-by-function": `{"Versions": [{"Version": "1"}, {"Version": "2", "Environment": {"Variables": {"BUILD": "new"}}}]}`,
			},
			calls: "deploy-at-once test publish",
			fails: true, says: "--name live --function-version 2 ",
		},
		{
			name:    "a build from before that is a text is neither shown nor run",
			answers: map[string]string{"Build": commit + " is bad;touch evil", "update": canceled, "fail": "in1 in2"},
			calls:   "test deploy-gradual test-update cancel wait publish",
			fails:   true, says: "runs the build from before, an unknown build.",
		},
		{
			name:    "a deployment that fails by itself is not cancelled",
			answers: map[string]string{"update": "status UPDATE_IN_PROGRESS; await test-update; status UPDATE_ROLLBACK_COMPLETE", "last": "in1"},
			calls:   "test deploy-gradual test-update publish",
			fails:   true, says: "The deployment of plant-store-staging failed",
		},
		{
			name:    "a stack that is not in this account is not created",
			answers: map[string]string{"StackStatus": noStack},
			fails:   true, says: "type: make deploy ENV=staging",
		},
		{
			name: "the first deployment shows the account, and is tested", arguments: "staging at-once first",
			answers: map[string]string{"StackStatus": noStack, "update": "status CREATE_COMPLETE"},
			calls:   "deploy-at-once test",
			says:    "account              123456789012, eu-central-1\n",
		},
		{
			name: "a first deployment that fails its test has no way back", arguments: "staging gradual first",
			answers: map[string]string{"StackStatus": noStack, "update": "status CREATE_COMPLETE", "fail": "after1 after2"},
			calls:   "deploy-gradual test publish",
			fails:   true, says: "there is no build to return to",
		},
		{
			name: "a stack that exists is not deployed for the first time", arguments: "staging at-once first",
			fails: true, says: "type: deploy/deploy staging at-once",
		},
		{
			name: "an environment that samconfig.toml lacks is not deployed", arguments: "prod",
			fails: true, says: "samconfig.toml has no environment 'prod'; environments: dev staging",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answers, programs := maps.Clone(smokeAnswers), maps.Clone(smokePrograms)
			maps.Copy(answers, map[string]string{
				"Build": commit + "-dirty 2026-11-22T12:00:00Z", "AlarmTopic": "TOPIC",
				"update": "", "fail": "", "last": "",
			})
			maps.Copy(answers, test.answers)
			maps.Copy(programs, deployPrograms)
			p := newProject(t, answers, programs)
			arguments := strings.Fields(cmp.Or(test.arguments, "staging"))
			output, status := p.run(t, append([]string{"deploy/deploy"}, arguments...))

			if failed := status != 0; failed != test.fails {
				t.Errorf("it ends with %d, want a failure = %t:\n%s", status, test.fails, output)
			}
			calls := slices.DeleteFunc(p.calls(t), func(call string) bool {
				return call == "asked" || call == "ended" || strings.HasPrefix(call, "revoke-")
			})
			if got := strings.Join(slices.Compact(calls), " "); got != test.calls {
				t.Errorf("calls = %q, want %q:\n%s", got, test.calls, output)
			}
			said := map[string]string{"output": output}
			if slices.Contains(calls, "publish") {
				said["summary"] = read(t, filepath.Join(p.folder, "summary"))
				said["published message"] = read(t, filepath.Join(p.folder, "published"))
				shown := "stack                plant-store-staging: " + strings.TrimSpace(read(t, filepath.Join(p.folder, "answers/StackStatus"))) + ";"
				if !strings.Contains(said["published message"], shown) {
					t.Errorf("the topic gets %s, want %q in it", said["published message"], shown)
				}
			}

			if strings.Contains(output, "git checkout "+commit) && !strings.Contains(output, "-f commit="+commit) {
				t.Errorf("it does not print the way back with GitHub:\n%s", output)
			}

			for name, text := range said {
				if !strings.Contains(text, test.says) {
					t.Errorf("the %s is %s, want %q in it", name, text, test.says)
				}
			}
		})
	}
}

// TestChanges checks which changes stop deploy/deploy, with git itself. What passes gets to AWS, which refuses.
func TestChanges(t *testing.T) {
	t.Parallel()
	const commit = "git init --quiet; git add .; git -c user.name=x -c user.email=x@example.com commit --quiet --message=x; "
	const passes = "AWS does not describe plant-store-staging"
	tests := []struct {
		name, before string // what is done before, by sh
		build        string // the name that is given to the build
		says         string
	}{
		{
			name:   "a commit, with another configuration, and a file that git ignores",
			before: "echo /bin >.gitignore; " + commit + "touch bin/new; echo >>samconfig.toml; mkdir environments; touch environments/a.yaml",
			says:   passes,
		},
		{
			name: "a new file, although git is set to hide it", before: commit + "git config status.showUntrackedFiles no; touch internal.go",
			says: "there are changes that no commit has",
		},
		{name: "a changed file", before: commit + "echo >>deploy/stack", says: "there are changes that no commit has"},
		{
			name: "a changed file in a build with a name", before: commit + "echo >>deploy/stack", build: "b 1",
			says: "changes that no commit has are deployed too, as the build 'b 1'\nAn error occurred (Throttling)",
		},
		{name: "a folder that is no clone", before: ":", says: "Run this in a clone, or name the build: BUILD=..."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			programs := maps.Clone(smokePrograms)
			programs["deploy/stack"] = ""
			p := newProject(t, map[string]string{"StackStatus": "An error occurred (Throttling): Rate exceeded"}, programs)
			before := exec.CommandContext(t.Context(), "sh", "-e", "-c", test.before)
			before.Dir = p.folder
			if output, err := before.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if output, status := p.run(t, []string{"deploy/deploy", "staging"}, "BUILD="+test.build); status != 1 || !strings.Contains(output, test.says) {
				t.Errorf("it ends with %d and prints %s, want %q in it", status, output, test.says)
			}
		})
	}
}

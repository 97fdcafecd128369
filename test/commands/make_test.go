// Package commands checks that the Makefile's targets do what is typed, and nothing else that a value says.
package commands

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// TestValuesAreData gives each variable that make's help names, and those of tokens and builds, a value that
// is a command to make and to a shell. No recipe contains it, and make runs none of it.
func TestValuesAreData(t *testing.T) {
	t.Parallel()
	folder := processtest.Repository(t)
	help, err := exec.CommandContext(t.Context(), "make", "--directory="+folder, "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"--dry-run", "build-CreatePlantFunction", "compatible"}
	for _, line := range regexp.MustCompile(`(?m)^make ([a-z-]+) `).FindAllStringSubmatch(string(help), -1) {
		arguments = append(arguments, line[1])
	}
	names := regexp.MustCompile(`[A-Z3_]+=`).FindAllString(string(help), -1)
	if len(names) < 10 {
		t.Fatalf("make help names the variables %q, want those of every target", names)
	}
	for _, name := range append(names, "TOKEN=", "OTHER_TOKEN=", "BUILD=", "ARTIFACTS_DIR=", "S3_PREFIX=") {
		arguments = append(arguments, name+`$(shell touch expanded)';touch injected;"`)
	}
	command := exec.CommandContext(t.Context(), "make", arguments...)
	command.Dir = folder
	printed, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(printed), "deploy/stack") {
		t.Fatalf("make %q: %v\n%s", arguments, err, printed)
	}
	if strings.Contains(string(printed), "injected") {
		t.Errorf("make %q would run\n%s", arguments, printed)
	}
	if _, err := os.Stat(filepath.Join(folder, "expanded")); err == nil {
		t.Error("make expands a value")
	}
}

// standIns are in place of programs. They record how they are called.
var standIns = map[string]string{
	"sam": recordCall + `
[ "$1" != deploy ] || cat .aws-sam/build/parameters.yaml >>"$CALLS"
mkdir -p .aws-sam/build && cp template.yaml .aws-sam/build && echo 'Shift: gradual' >.aws-sam/build/parameters.yaml
`,
	"aws": `[ "$1 $2" != "cloudformation describe-stacks" ] || echo b 0
`,
	// `go test -c` makes a program of tests that tries as many cases as $CASES says. An environment has a mistake
	// if $MISTAKE is set. Tests of the folders $FAILING fail.
	"go": `[ "$1 $2 $MISTAKE" != "run ./tools/parameters yes" ] || exit 1
[ -z "$FAILING" ] || case "$*" in "test "*"$FAILING"*) exit 1 ;; esac
[ "$1 $2" = "test -c" ] || exit 0
mkdir -p "$(dirname "$4")"
cat >"$4" <<'END'
#!/bin/sh
` + recordCall + `
echo "$CASES cases tried"
exit $STATUS
END
chmod +x "$4"
`,
}

// standInDynamoDB is in place of tools/local/dynamodb, and starts nothing.
const standInDynamoDB = `
if [ "$1" = --port ]; then shift 2; fi
exec "$@"
`

const recordCall = `echo "$(basename "$0") $*" "ARCH=$ARCH BUILD=$BUILD URL=$CONTRACT_URL SUBJECT=$SUBJECT WRITES=$WRITES" >>"$CALLS"`

// TestValuesArrive checks which commands a target runs, and that they get the values that were typed. No script
// runs a command that is a part of a value, such as $(id).
func TestValuesArrive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment []string
		typed       []string
		calls       string // a regular expression for parts of the calls, in this order
	}{
		{
			name:  "make deploy builds for x86_64 and deploys the environment",
			typed: []string{"deploy", "ENV=dev", "SHIFT=at-once", "BUILD=b 1"},
			calls: "sam build ARCH=x86_64 BUILD=b 1 URL.*sam deploy --config-env dev --region us-east-2 ARCH.*Shift: at-once",
		},
		{
			name:        "without a value, make deploy deploys dev, gradually, whatever the shell's variables are, and names the build by its commit",
			environment: []string{"ENV=/root/.shrc", "SHIFT=at-once"},
			typed:       []string{"deploy"},
			// A stand-in is in a file of the commit.
			calls: "sam build ARCH=x86_64 BUILD=[0-9a-f]{40}-dirty 20[0-9T:-]+Z URL.*sam deploy --config-env dev --region us-east-2 ARCH.*Shift: gradual",
		},
		{
			name:  "a role that has a prefix in SAM's bucket uploads there",
			typed: []string{"deploy", "S3_PREFIX=github/$(id)", "AWS_REGION=eu-central-1"},
			calls: "sam deploy --config-env dev --region eu-central-1 --s3-prefix github/\\$\\(id\\) ARCH",
		},
		{
			name:  "make build builds for an architecture",
			typed: []string{"build", "ARCH=arm64"},
			calls: "sam build ARCH=arm64",
		},
		{
			name:  "make invoke invokes the function of the event's folder",
			typed: []string{"invoke", "EVENT=events/authorizer/create.json", "SAM_FLAGS=--debug --name=$(id)"},
			calls: "sam build .*sam local invoke AuthorizerFunction --event events/authorizer/create.json --debug --name=\\$\\(id\\) ARCH",
		},
		{
			name:  "make sam-local serves at a port",
			typed: []string{"sam-local", "PORT=3001"},
			calls: "sam build .*sam local start-api --port 3001 ARCH",
		},
		{
			name:  "make contract tests a URL",
			typed: []string{"contract", "URL=https://example.com", "SUBJECT=$(id)", "WRITES=all", "CASES=1"},
			calls: `contract.test -test.run \^Test\(Contract\|Specification\)\$ .*URL=https://example.com SUBJECT=\$\(id\) WRITES=all`,
		},
		{
			name:        "without URL, make contract tests plantstore serve, whatever the tests' own variable is",
			environment: []string{"CONTRACT_URL=https://other.example"},
			typed:       []string{"contract", "CASES=1"},
			calls:       `contract.test .*URL= SUBJECT=`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls, printed, err := makeWithStandIns(t, test.environment, test.typed...)
			if err != nil || !regexp.MustCompile("(?s)"+test.calls).MatchString(calls) {
				t.Errorf("make %q = %v, %s, and calls\n%s, want %q", test.typed, err, printed, calls, test.calls)
			}
		})
	}
}

// TestMakeRefuses checks what make refuses before it calls SAM, and that make fails if a test does.
func TestMakeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		typed  []string
		prints string
	}{
		{
			name: "an environment with users that is deployed already", typed: []string{"deploy", "ENV=staging", "SHIFT=at-once", "BUILD=b 1"},
			prints: "type: deploy/deploy staging at-once",
		},
		{name: "production, which has users too", typed: []string{"deploy", "ENV=production", "BUILD=b 1"}, prints: "type: deploy/deploy production gradual"},
		{name: "a deployment without a region", typed: []string{"deploy", "AWS_DEFAULT_REGION="}, prints: "there is no region: set AWS_REGION"},
		{name: "an environment with a mistake", typed: []string{"deploy", "MISTAKE=yes"}, prints: "Error 1"},
		{name: "a build whose name is no text of YAML", typed: []string{"build-CreatePlantFunction", `BUILD=x"`}, prints: "BUILD must be one or two words"},
		{name: "a build whose name is a sentence", typed: []string{"build-CreatePlantFunction", "BUILD=b is good"}, prints: "BUILD must be one or two words"},
		{name: "a build whose name is too long", typed: []string{"build-CreatePlantFunction", "BUILD=" + strings.Repeat("b", 71)}, prints: "BUILD must be one or two words"},
		{name: "another shift", typed: []string{"deploy", "SHIFT=now"}, prints: "SHIFT must be gradual or at-once, not 'now'"},
		{name: "another architecture", typed: []string{"build-CreatePlantFunction", "ARCH=mips"}, prints: "ARCH must be arm64 or x86_64"},
		{name: "an empty URL", typed: []string{"contract", "URL="}, prints: "URL is empty"},
		{name: "a contract run without a case", typed: []string{"contract", "URL=https://example.com", "CASES=0"}, prints: "no case was tried"},
		{name: "a contract run that fails", typed: []string{"contract", "URL=https://example.com", "CASES=1", "STATUS=1"}, prints: "1 cases tried"},
		{name: "tests that fail, although those of later folders pass", typed: []string{"test", "FAILING=./internal/..."}, prints: "Error 1"},
		{name: "tests of the last folder that fail", typed: []string{"test", "FAILING=./tools/..."}, prints: "Error 1"},
		{name: "a file that is no event", typed: []string{"invoke", "EVENT=docs/adopt.md"}, prints: "is no sample event; events:\nevents/authorizer/bad-token.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls, printed, err := makeWithStandIns(t, nil, test.typed...)
			if err == nil || !strings.Contains(printed, test.prints) || strings.Contains(calls, "sam ") {
				t.Errorf("make %q = %v, %s, and calls %q, want a failure with %q and no call of SAM", test.typed, err, printed, calls, test.prints)
			}
		})
	}
}

// makeWithStandIns runs make in a copy of the repository, with these variables. It returns the calls of the
// stand-ins and what make prints.
func makeWithStandIns(t *testing.T, environment []string, typed ...string) (calls, printed string, err error) {
	t.Helper()
	folder := processtest.Repository(t)
	programs := t.TempDir()
	scripts := map[string]string{filepath.Join(folder, "tools/local/dynamodb"): standInDynamoDB}
	for name, script := range standIns {
		scripts[filepath.Join(programs, name)] = script
	}
	for file, script := range scripts {
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	recorded := filepath.Join(t.TempDir(), "calls")
	command := exec.CommandContext(t.Context(), "make", typed...)
	command.Dir = folder
	command.Env = slices.Concat(environment, []string{
		"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "CALLS=" + recorded, "AWS_DEFAULT_REGION=us-east-2",
	})
	out, err := command.CombinedOutput()
	content, _ := os.ReadFile(recorded) // without a call there is none
	return string(content), string(out), err
}

// TestMakeRun checks that make run keeps everything in memory, whatever the variables of the shell say.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "make", "--directory=../..", "run", "ADDR=127.0.0.1:0")
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "PLANTS_TABLE=p")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	printed := ""
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		printed += lines.Text() + "\n"
		if strings.Contains(lines.Text(), " runs at ") {
			break
		}
	}
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGINT) // it may have failed
	_, _ = io.Copy(io.Discard, stdout)
	_ = command.Wait() // make reports the interrupt as a failure
	if !strings.Contains(printed, "with everything in memory") {
		t.Errorf("make run prints %q, want that everything is in memory", printed)
	}
}

// TestBuiltFunction builds a function as SAM has it built. The caller's settings do not change the binary, and
// the parameters of the build stand beside it.
func TestBuiltFunction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		arch     string
		settings []string
	}{
		{arch: "x86_64", settings: []string{"GOARCH=amd64", "GOAMD64=v1"}},
		{arch: "arm64", settings: []string{"GOARCH=arm64", "GOARM64=v8.0"}},
	}
	for _, test := range tests {
		t.Run(test.arch, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "CreatePlantFunction")
			command := exec.CommandContext(t.Context(), "make", "--directory=../..", "build-CreatePlantFunction",
				"ARTIFACTS_DIR="+folder, "ARCH="+test.arch, "BUILD=b 1")
			command.Env = append(os.Environ(), "GOAMD64=v3", "GOARM64=v8.1", "GOOS=plan9", "GOFLAGS=-cover", "CGO_ENABLED=1")
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("make: %v\n%s", err, out)
			}
			built, err := buildinfo.ReadFile(filepath.Join(folder, "bootstrap"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, setting := range built.Settings {
				got = append(got, setting.Key+"="+setting.Value)
			}
			settings := slices.Concat(test.settings, []string{"GOOS=linux", "CGO_ENABLED=0", "-tags=" + processtest.Tags, "-trimpath=true"})
			for _, setting := range settings {
				if !slices.Contains(got, setting) {
					t.Errorf("the function is built with %q, want %s", got, setting)
				}
			}
			if slices.Contains(got, "-cover=true") {
				t.Error("the function is built with the caller's GOFLAGS")
			}
			parameters, err := os.ReadFile(filepath.Join(folder, "../parameters.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if want := "Architecture: " + test.arch + "\nBuild: \"b 1\"\nShift: gradual\n"; string(parameters) != want {
				t.Errorf("the build has the parameters %q, want %q", parameters, want)
			}
		})
	}
}

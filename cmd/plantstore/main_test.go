package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m, main) }

// tool runs the plantstore command.
type tool struct {
	environment []string
	flags       string // added to every command line
}

func newTool(t *testing.T, environment ...string) tool {
	t.Helper()
	return tool{environment: append([]string{
		processtest.AsCommand, "GORACE=" + os.Getenv("GORACE"), "AWS_EC2_METADATA_DISABLED=true",
		"HOME=" + t.TempDir(),       // without the user's configuration
		"GOCOVERDIR=" + t.TempDir(), // otherwise the command prints a warning under `go test -cover`
	}, environment...)}
}

// result is a command's exit status and output.
type result struct {
	status         int
	stdout, stderr string
}

func (p tool) run(t *testing.T, args, stdin string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0], strings.Fields(args+" "+p.flags)...)
	command.Env = p.environment
	command.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	_ = command.Run() // the exit status says whether it failed; -1 if it did not finish
	return result{status: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// check runs the command and compares the result. The outputs in want are regular expressions for the whole output.
func (p tool) check(t *testing.T, args string, want result) {
	t.Helper()
	got := p.run(t, args, "")
	matches := func(pattern, text string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(text) }
	if got.status != want.status || !matches(want.stdout, got.stdout) || !matches(want.stderr, got.stderr) {
		t.Errorf("plantstore %s = %+v, want %+v", args, got, want)
	}
}

// On failure, the command prints one line to standard error that says what is wrong or what to do.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, args, want string }{
		{"a word as the lifetime", "token issue --subject ann --ttl soon", "--ttl: must be a time such as 90m, 12h or 30d"},
		{"too many days", "token issue --subject ann --ttl 99999d", "--ttl: must be"},
		{"a negative lifetime", "token issue --subject ann --ttl=-1h", "--ttl: must be"},
		{"a subject that is not ASCII", "token issue --subject é", "subject must have 1 to 128 visible ASCII"},
		{"neither stack nor table", "token list", "set --stack or --table, or --endpoint-url"},
		{"no token on standard input", "token revoke --table tokens -", "revoke needs the id of a token, or text with exactly one whole token; this has 0"},
		{"part of a token", "token revoke --table tokens pst_SAMPLETOKEN2", "revoke needs the id of a token, or text with exactly one whole token; this has 0"},
		{"an address without a port", "serve --addr localhost", "missing port in address; use another --addr"},
		{"no credentials", "token list --table tokens", "cannot get AWS credentials; AWS_PROFILE must name"},
		{"an endpoint without http://", "token list --endpoint-url localhost:8000", "the endpoint must be a URL such as http://"},
		{"an MFA code", "token list --table tokens", "the profile needs an MFA code; first run: eval"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plantstore := newTool(t)
			if strings.Contains(test.name, "MFA") {
				plantstore = newTool(t, "AWS_PROFILE=mfa", "AWS_CONFIG_FILE=testdata/aws-config")
			}
			got := plantstore.run(t, test.args, "")
			lines := strings.Count(got.stderr, "\n")
			if got.status < 1 || got.stdout != "" || lines != 1 || !strings.Contains(got.stderr, test.want) {
				t.Errorf("plantstore %s = %+v, want a failure with one line that says %s", test.args, got, test.want)
			}
		})
	}
}

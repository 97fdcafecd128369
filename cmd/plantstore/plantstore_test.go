package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// tool is the built command with an environment of its own.
type tool struct {
	binary      string
	environment []string
}

func build(t *testing.T, environment ...string) tool {
	t.Helper()
	// No configuration of whoever runs the tests.
	none := filepath.Join(t.TempDir(), "none")
	return tool{processtest.Build(t, "plantstore"), append([]string{
		"HOME=" + none, "AWS_CONFIG_FILE=" + none, "AWS_SHARED_CREDENTIALS_FILE=" + none, "AWS_EC2_METADATA_DISABLED=true",
	}, environment...)}
}

// run returns what the command printed and its exit code.
func (p tool) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, p.binary, args...)
	command.Env = p.environment
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}

// A wrong call gets one line on standard error that says what to do, and exit
// code 2; one that cannot be carried out, exit code 1.
func TestWrongCalls(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	p := build(t)
	tests := []struct {
		name string
		args string
		code int
		want string
	}{
		{"no command", "", 2, `expected one of "serve", "token", "tables"`},
		{"an unknown command", "grow", 2, "unexpected argument grow"},
		{"an unknown flag", "serve --colour", 2, "unknown flag --colour"},
		{"no subject", "token issue --table tokens", 2, "missing flags: --subject=STRING"},
		{"a malformed time to live", "token issue --table tokens --subject ann --ttl soon", 2, "--ttl: must be between 1s and 32767d"},
		{"part of a day to live", "token issue --table tokens --subject ann --ttl 1.5d", 2, "for example 90m, 12h or 30d"},
		{"more days than there are", "token issue --table tokens --subject ann --ttl 900000h", 2, "between 1s and 32767d"},
		{"an output that there is not", "token list --table tokens --output xml", 2, `must be one of "table","json"`},
		{"a time to live that has passed", "token issue --table tokens --subject ann --ttl -1h", 2, "--ttl: must be between 1s and 32767d"},
		{"no time to live", "token issue --table tokens --subject ann --ttl", 2, "--ttl: must be between 1s and 32767d"},
		{"a subject beyond ASCII", "token issue --table tokens --subject ä", 2, "subject must have 1 to 128 visible ASCII characters"},
		{"no word about which tokens", "token list", 2, "set --stack or --table, or --endpoint-url"},
		{"no region", "token list --table tokens", 1, "no AWS region: set AWS_REGION"},
		{"no id", "token revoke --table tokens", 2, `expected "<id>"`},
		{"an endpoint that is no URL", "token list --endpoint-url localhost:8000", 2, "--endpoint-url is not an http or https URL"},
		{"an endpoint where nothing listens", "token list --endpoint-url http://127.0.0.1:1", 1, "DynamoDB at http://127.0.0.1:1 cannot be reached: connect: connection refused"},
		{"tables in AWS", "tables create", 2, "tables create is for a local DynamoDB"},
		{"two tables of one name", "tables create --endpoint-url http://127.0.0.1:1 --plants-table a --tokens-table a", 2, "--plants-table and --tokens-table must be different"},
		{"one table of two", "serve --plants-table plants", 2, "set both --plants-table and --tokens-table"},
		{"a taken port", "serve --addr " + taken.Addr().String(), 1, "address already in use"},
		{"no port", "serve --addr localhost", 2, "--addr must be HOST:PORT, for example"},
		{"a port that there is not", "serve --addr 127.0.0.1:99999", 2, "--addr must be HOST:PORT, for example"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := p.run(t, strings.Fields(test.args)...)
			if code != test.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
				t.Errorf("plantstore %s = %q, %q, exit code %d, want %d and one line with %q", test.args, stdout, stderr, code, test.code, test.want)
			}
		})
	}
}

// The help shows examples, that of each command too, and each is a right call.
func TestExamplesOfHelp(t *testing.T) {
	parser := newParser(t.Context())
	example := regexp.MustCompile(`plantstore ([^|#)\n]+)`)
	for _, command := range parser.Model.Leaves(true) {
		calls := example.FindAllStringSubmatch(command.Detail, -1)
		if len(calls) == 0 {
			t.Errorf("help of %s = %q, want an example", command.Path(), command.Detail)
		}
		for _, call := range calls {
			if got, err := parser.Parse(strings.Fields(call[1])); err != nil || got.Selected() != command {
				t.Errorf("plantstore %s: %v, want a call of %s", call[1], err, command.Path())
			}
		}
	}
	calls := regexp.MustCompile(`(?m)^ {4}plantstore ([^#\n]+)`).FindAllStringSubmatch(parser.Model.Help, -1)
	for _, call := range calls {
		if _, err := parser.Parse(strings.Fields(call[1])); err != nil {
			t.Errorf("plantstore %s: %v, want a right call", call[1], err)
		}
	}
	if len(calls) < 2 {
		t.Errorf("help = %q, want examples", parser.Model.Help)
	}
	p := build(t)
	for _, args := range []string{"--version", "--help", "token issue --help"} {
		stdout, stderr, code := p.run(t, strings.Fields(args)...)
		want := map[string]string{"--version": " go1.", "--help": "Exit status: 0 success, 1 failure, 2 usage error.", "token issue --help": "--subject alice --ttl 90d"}[args]
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("plantstore %s = %q, %q, exit code %d, want %q", args, stdout, stderr, code, want)
		}
	}
}

func TestTokens(t *testing.T) {
	run := rand.Text() // the tables stay
	p := build(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "PLANTS_TABLE=p-"+run, "TOKENS_TABLE=t-"+run)
	if _, stderr, code := p.run(t, "token", "list"); code == 0 || !strings.Contains(stderr, "table t-"+run+" does not exist") {
		t.Errorf("token list before the table is there = %q, exit code %d", stderr, code)
	}
	for range 2 { // the second time they are there already
		if stdout, stderr, code := p.run(t, "tables", "create"); code != 0 || !strings.HasSuffix(stdout, " exist.\n") {
			t.Fatalf("tables create = %q, %q, exit code %d", stdout, stderr, code)
		}
	}
	secret, told, code := p.run(t, "token", "issue", "--subject", "ann", "--ttl", "2h")
	secret = strings.TrimSuffix(secret, "\n")
	id := regexp.MustCompile(`^Token (\w+) for ann, valid until `).FindStringSubmatch(told)
	if code != 0 || !token.WellFormed(secret) || id == nil || strings.Contains(told, secret) {
		t.Fatalf("token issue = %q, %q, exit code %d, want the token alone on standard output", secret, told, code)
	}
	list, _, _ := p.run(t, "token", "list")
	p.cannotPrint(t)
	if !regexp.MustCompile(`(?m)^`+id[1]+` +ann +\S+Z +\S+Z +expires soon$`).MatchString(list) || strings.Contains(list, secret) {
		t.Errorf("token list = %q, want a line for %s and no secret", list, id[1])
	}
	p.printsJSON(t)
	if _, stderr, code := p.run(t, "token", "revoke", "nobody"); code == 0 || !strings.Contains(stderr, "no such token") || strings.Contains(stderr, "nobody") {
		t.Errorf("token revoke of an unknown id = %q, exit code %d", stderr, code)
	}
	other, _, _ := p.run(t, "token", "issue", "--subject", "eve")
	if stdout, stderr, code := p.run(t, "token", "revoke", strings.TrimSpace(other)); code != 0 || !strings.HasSuffix(stdout, " is revoked.\n") || strings.Contains(stdout+stderr, "pst_") {
		t.Errorf("token revoke of a token itself = %q, %q, exit code %d", stdout, stderr, code)
	}
	if _, stderr, code := p.run(t, "token", "revoke", strings.TrimSpace(other)); code == 0 || strings.Contains(stderr, "pst_") {
		t.Errorf("token revoke of it once more = %q, exit code %d", stderr, code)
	}
	if stdout, _, code := p.run(t, "token", "revoke", id[1]); code != 0 || stdout != "Token "+id[1]+" is revoked.\n" {
		t.Errorf("token revoke = %q, exit code %d", stdout, code)
	}
	if list, _, _ := p.run(t, "token", "list"); strings.Contains(list, id[1]) {
		t.Errorf("token list after token revoke = %q, want no line for %s", list, id[1])
	}
}

// printsJSON issues a token for a month and finds it among the others.
func (p tool) printsJSON(t *testing.T) {
	t.Helper()
	type printed struct{ ID, Subject, State, Token string }
	var issued printed
	stdout, stderr, _ := p.run(t, "token", "issue", "--subject", "bob", "--ttl", "30d", "--output", "json")
	if err := json.Unmarshal([]byte(stdout), &issued); err != nil || !token.WellFormed(issued.Token) || issued.State != "valid" {
		t.Errorf("token issue --output json = %q, %q (%v), want a valid token", stdout, stderr, err)
	}
	var list []printed
	stdout, stderr, _ = p.run(t, "token", "list", "-o", "json")
	want := printed{issued.ID, "bob", "valid", ""}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || !slices.Contains(list, want) {
		t.Errorf("token list -o json = %q, %q (%v), want %+v in it", stdout, stderr, err, want)
	}
}

// cannotPrint issues a token where nobody can read it.
func (p tool) cannotPrint(t *testing.T) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Log("left out: there is no /dev/full here")
		return
	}
	defer full.Close() //nolint:errcheck // nothing was written
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), p.binary, "token", "issue", "--subject", "nobody")
	command.Env, command.Stdout, command.Stderr = p.environment, full, &stderr
	if err := command.Run(); err == nil || !strings.Contains(stderr.String(), "could not be printed: revoke it") {
		t.Errorf("token issue on a full disk = %q, %v, want an error", stderr.String(), err)
	}
}

// The table's name comes from the stack.
func TestTokensOfAStack(t *testing.T) {
	_, _, tokens := dynamotest.Tables(t)
	cloudFormation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "DescribeStackResource" || r.FormValue("LogicalResourceId") != "TokensTable" || r.FormValue("StackName") == "desert" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack 'x' does not exist</Message></Error></ErrorResponse>`))
			return
		}
		_, _ = w.Write([]byte(`<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>` +
			map[string]string{"garden": `<PhysicalResourceId>` + tokens + `</PhysicalResourceId>`}[r.FormValue("StackName")] +
			`</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`))
	}))
	defer cloudFormation.Close()
	p := build(t, "AWS_ENDPOINT_URL_DYNAMODB="+os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), "AWS_ENDPOINT_URL_CLOUDFORMATION="+cloudFormation.URL,
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	if _, stderr, code := p.run(t, "token", "issue", "--stack", "garden", "--subject", "ann"); code != 0 {
		t.Fatalf("token issue --stack garden = %q, exit code %d", stderr, code)
	}
	if list, stderr, _ := p.run(t, "token", "list", "--table", tokens); !strings.Contains(list, " ann ") {
		t.Errorf("token list --table = %q, %q, want the token issued by --stack", list, stderr)
	}
	if _, stderr, code := p.run(t, "token", "list", "--stack", "seedling"); code != 1 || !strings.Contains(stderr, "stack seedling has no table of tokens yet") {
		t.Errorf("token list --stack seedling = %q, exit code %d", stderr, code)
	}
	if _, stderr, code := p.run(t, "token", "list", "--stack", "desert"); code == 0 || !strings.Contains(stderr, "cannot find the table of tokens in stack desert") {
		t.Errorf("token list --stack desert = %q, exit code %d", stderr, code)
	}
	p.environment = p.environment[:len(p.environment)-2] // no keys
	if _, stderr, code := p.run(t, "token", "list", "--stack", "garden"); code != 1 || !strings.Contains(stderr, "no AWS credentials: set AWS_PROFILE") {
		t.Errorf("token list --stack garden without credentials = %q, exit code %d", stderr, code)
	}
}

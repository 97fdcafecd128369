package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
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
	none := filepath.Join(t.TempDir(), "none") // no configuration of the user who runs the tests
	return tool{processtest.Build(t, "cmd/plantstore"), append([]string{
		"HOME=" + none, "AWS_CONFIG_FILE=" + none, "AWS_SHARED_CREDENTIALS_FILE=" + none,
		"AWS_EC2_METADATA_DISABLED=true",
	}, environment...)}
}

// check runs the command and compares its exit status, and with regular expressions what it prints. It returns the
// submatches of both.
func (p tool) check(t *testing.T, args, stdin string, status int, stdout, stderr string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, p.binary, strings.Fields(args)...)
	command.Env, command.Stdin = p.environment, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	printed := out.String() + "\x00" + errs.String()
	match := regexp.MustCompile("^" + stdout + "\x00" + stderr + "$").FindStringSubmatch(printed)
	if command.ProcessState.ExitCode() != status || match == nil {
		t.Fatalf("plantstore %s prints %q, %v; want %s%s, exit status %d", args, printed, err, stdout, stderr, status)
	}
	return match[1:]
}

// TestFailures checks that a usage error has exit status 2, another failure 1, each with one line on standard error
// that says what to do.
func TestFailures(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	p := build(t)
	const issue = "token issue --table tokens --subject ann --ttl "
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, `expected one of "serve", "token", "tables"`},
		{"serve --colour", 2, "unknown flag --colour"},
		{issue + "soon", 2, "--ttl: must be between 1s and 32767d"},
		{issue + "1.5d", 2, "for example 90m, 12h or 30d"},
		{issue + "900000h", 2, "between 1s and 32767d"},
		{issue + "-1h", 2, "between 1s and 32767d"},
		{"token issue --table tokens --subject ä", 2, "subject must have 1 to 128 visible ASCII characters"},
		{"token list", 2, "set --stack or --table, or --endpoint-url"},
		{"token list --stack=", 2, "--stack is empty"},
		{"token list --stack", 2, "--stack: expected string value but got none;"},
		{"token list --table tokens", 1, "no AWS region: set AWS_REGION"},
		{"token list --endpoint-url localhost:8000", 2, "--endpoint-url is not an http or https URL"},
		{"token list --endpoint-url http://127.0.0.1:1", 1, "DynamoDB at http://127.0.0.1:1"},
		{"token revoke --table tokens -", 2, "standard input is not a token"},
		{"tables create", 2, "tables create is for a local DynamoDB"},
		{"tables create --endpoint-url http://127.0.0.1:1 --plants-table a --tokens-table a", 2, "must be different"},
		{"serve --plants-table plants", 2, "set both --plants-table and --tokens-table"},
		{"serve --allow-origin https://example.com/", 2, "--allow-origin: must be an origin as browsers send it, here https://example.com"},
		{"serve --token-issuer https://example.com", 2, "TOKEN_ISSUER must be set together with the audience"},
		{"serve --addr " + taken.Addr().String(), 1, "address already in use"},
		{"serve --addr localhost", 2, "--addr must be HOST:PORT, for example"},
		{"serve --addr 127.0.0.1:99999", 2, "--addr must be HOST:PORT, for example"},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			p.check(t, test.args, "", test.status, "", ".*"+regexp.QuoteMeta(test.want)+".*\n")
		})
	}
}

// TestExamplesOfHelp checks that every example in the help is a valid call of its command.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	parser := newParser(t.Context())
	for _, command := range append(parser.Model.Leaves(true), parser.Model.Node) {
		example := regexp.MustCompile(`(?m)^ {4}(?:TOKEN=\$\()?plantstore ([^|#)<\n]+)`)
		calls := example.FindAllStringSubmatch(command.Detail+"\n"+command.Help, -1)
		for _, call := range calls {
			got, err := parser.Parse(strings.Fields(call[1]))
			if err != nil || command != parser.Model.Node && got.Selected() != command {
				t.Errorf("help of %s: plantstore %s: %v", command.Path(), call[1], err)
			}
		}
		if len(calls) == 0 {
			t.Errorf("help of %s has no example", command.Path())
		}
	}
	build(t).check(t, "--version", "", 0, ".* go1[.].*\n", "")
}

// TestTokens issues, lists and revokes tokens in tables that it creates.
func TestTokens(t *testing.T) {
	t.Parallel()
	run := rand.Text() // the tables stay
	endpoint := dynamotest.Endpoint(t)
	p := build(t, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint, "PLANTS_TABLE=p-"+run, "TOKENS_TABLE=t-"+run)
	for _, args := range []string{"token list", "serve --addr 127.0.0.1:0"} {
		p.check(t, args, "", 1, "", ".*the table does not exist: [pt]-"+run+"; .*`plantstore tables create`.*\n")
	}
	for range 2 { // the second time they exist
		p.check(t, "tables create", "", 0, "Tables p-"+run+" and t-"+run+" exist.\n", "")
	}
	swapped := "tables create --plants-table t-" + run + " --tokens-table p-" + run
	p.check(t, swapped, "", 1, "", ".*table t-"+run+" .*\n")
	const secret, at = `(\w+_\w{36})`, `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	ann := p.check(t, "token issue --subject ann --ttl 2h", "", 0, secret+"\n",
		`Token (\w+) for ann, valid until `+at+":\n")
	bob := p.check(t, "token issue --subject bob -o json", "", 0,
		`{"id":"(\w+)","subject":"bob",.*,"state":"valid","token":"`+secret+"\"}\n", "")
	p.check(t, "token list", "", 0,
		"ID .*\n"+ann[1]+" +ann +"+at+" +"+at+" +expires soon\n"+bob[0]+" +bob +"+at+" +"+at+" +valid\n", "")
	p.check(t, "token list -o json", "", 0,
		`\[{"id":"`+ann[1]+`",[^}]*"state":"expires soon"},{"id":"`+bob[0]+`",[^}]*"state":"valid"}\]`+"\n", "")
	p.check(t, "token list --expiring 1d", "", 1, "ID .*\n"+ann[1]+" .*\n", ".*tokens expire soon: issue new ones.*\n")
	p.check(t, "token list --expiring 1h -o json", "", 0, `\[\]`+"\n", "")
	for range 2 {
		p.check(t, "token revoke "+ann[1], "", 0, "Token "+ann[1]+" is revoked.\n", "")
		p.check(t, "token revoke -", bob[1]+"\n", 0, "The token is revoked.\n", "")
	}
	p.check(t, "token list", "", 0, "ID .*\n"+ann[1]+" .* revoked\n"+bob[0]+" .* revoked\n", "")
	odd := token.Token{Digest: "odd", ID: "odd", Subject: "eve\x1b[2J", ExpiresAt: time.Now()} // as another tool stores it
	store := &dynamo.TokenStore{Client: dynamotest.Client(endpoint), Table: "t-" + run}
	if err := store.Add(t.Context(), odd); err != nil {
		t.Fatal(err)
	}
	p.check(t, "token list", "", 0, `ID .*\nodd +"eve\\x1b\[2J" .* expired\n(.*\n)+`, "")
	p.check(t, "token list --expiring 60d", "", 0, "ID .*\n", "") // the others are revoked or expired
	p.check(t, "token revoke nobody", "", 1, "", ".* no such token; `plantstore token list` shows the ids\n")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skipped the rest: there is no /dev/full here")
	}
	defer full.Close() //nolint:errcheck // nothing was written
	command := exec.CommandContext(t.Context(), p.binary, "token", "issue", "--subject", "eve")
	var stderr bytes.Buffer
	command.Env, command.Stdout, command.Stderr = p.environment, full, &stderr
	if err := command.Run(); err == nil || !strings.Contains(stderr.String(), "could not be printed: revoke it") {
		t.Errorf("token issue on a full disk = %q, %v, want an error", &stderr, err)
	}
}

// TestTokensOfAStack checks that --stack finds the table in CloudFormation.
func TestTokensOfAStack(t *testing.T) {
	t.Parallel()
	_, _, tokens := dynamotest.Tables(t)
	cloudFormation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, known := map[string]string{"garden": tokens, "seedling": ""}[r.FormValue("StackName")]
		if r.FormValue("Action")+r.FormValue("LogicalResourceId") != "DescribeStackResourceTokensTable" || !known {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<ErrorResponse><Error><Code>ValidationError</Code></Error></ErrorResponse>")
			return
		}
		fmt.Fprintf(w, "<R><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>%s"+
			"</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></R>", name)
	}))
	defer cloudFormation.Close()
	p := build(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t),
		"AWS_ENDPOINT_URL_CLOUDFORMATION="+cloudFormation.URL, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	p.check(t, "token issue --stack garden --subject ann", "", 0, `\w+\n`, "Token .*\n")
	p.check(t, "token list --table "+tokens, "", 0, "ID .*\n.* ann .*\n", "")
	p.check(t, "token list --stack seedling", "", 1, "", ".*stack seedling has no table of tokens yet\n")
	p.check(t, "token list --stack desert", "", 1, "", ".*cannot find the table of tokens in stack desert(.|\n)*")
	p.environment = p.environment[:len(p.environment)-2] // no keys
	p.check(t, "token list --stack garden", "", 1, "", ".*no AWS credentials: set AWS_PROFILE(.|\n)*")
}

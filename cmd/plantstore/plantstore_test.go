package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// asCommand is a variable with which the program of these tests runs as the command.
const asCommand = "RUN_AS_COMMAND=yes"

func TestMain(m *testing.M) {
	if slices.Contains(os.Environ(), asCommand) {
		main()
		return
	}
	processtest.RunAtOnce(m)
}

// tool is the command with an environment of its own.
type tool struct {
	binary      string
	environment []string
}

func newTool(t *testing.T, environment ...string) tool {
	t.Helper()
	folder := t.TempDir()
	none := filepath.Join(folder, "none") // no configuration of the user who runs the tests
	return tool{os.Args[0], append([]string{
		asCommand, "GORACE=" + os.Getenv("GORACE"), "HOME=" + none, "AWS_CONFIG_FILE=" + none, "AWS_SHARED_CREDENTIALS_FILE=" + none,
		"AWS_EC2_METADATA_DISABLED=true",
		"GOCOVERDIR=" + folder, // without it, `go test -cover` makes the command print a warning
	}, environment...)}
}

// result is what a command printed, and its exit status.
type result struct {
	status         int
	stdout, stderr string
}

// run runs the command with these words as its arguments.
func (p tool) run(t *testing.T, args, stdin string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, p.binary, strings.Fields(args)...)
	command.Env = p.environment
	command.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatalf("plantstore %s: %v", args, err)
	}
	return result{status: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// check runs the command and compares the result. The outputs in want are regular expressions for the
// whole outputs.
func (p tool) check(t *testing.T, args string, want result) {
	t.Helper()
	got := p.run(t, args, "")
	matches := func(pattern, text string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(text) }
	if got.status != want.status {
		t.Fatalf("plantstore %s = %+v, want status %d", args, got, want.status)
	}
	if !matches(want.stdout, got.stdout) || !matches(want.stderr, got.stderr) {
		t.Fatalf("plantstore %s = %+v, want %+v", args, got, want)
	}
}

// A failure is a call of the command that fails, and a part of its one line on standard error.
type failure struct{ name, args, want string }

// checkFailures checks the status and the output of calls that fail.
func checkFailures(t *testing.T, status int, failures []failure) {
	t.Helper()
	p := newTool(t)
	for _, test := range failures {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, test.args, result{status: status, stderr: ".*" + regexp.QuoteMeta(test.want) + ".*\n"})
		})
	}
}

// TestUsageErrors checks that a usage error has the exit status 2, and says what to do.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	const (
		issue    = "token issue --table tokens --subject ann --ttl "
		lifetime = "--ttl: must be between 1s and 32767d, for example 90m, 12h or 30d"
	)
	checkFailures(t, 2, []failure{
		{"a word for the lifetime", issue + "soon", lifetime},
		{"a fraction of a day", issue + "1.5d", lifetime},
		{"a lifetime too long", issue + "900000h", lifetime},
		{"a negative lifetime", issue + "-1h", lifetime},
		{"a subject beyond ASCII", "token issue --table tokens --subject ä", "subject must have 1 to 128 visible ASCII characters"},
		{"no stack and no table", "token list", "set --stack or --table, or --endpoint-url"},
		{"an empty stack", "token list --stack=", "--stack is empty"},
		{"no value for the stack", "token list --stack", "--stack: expected string value but got none;"},
		{"an endpoint that is no URL", "token list --endpoint-url localhost:8000", "--endpoint-url is not an http or https URL"},
		{"no token on standard input", "token revoke --table tokens -", "standard input is not a token"},
		{"a part of a token", "token revoke --table tokens pst_0a1B2c3D4e5F", "the argument resembles a token, but is none"},
		{"tables on AWS", "tables create", "tables create is for a local DynamoDB"},
		{
			"one name for both tables",
			"tables create --endpoint-url http://127.0.0.1:1 --plants-table a --tokens-table a", "must be different",
		},
		{"one table of two", "serve --plants-table plants", "set both --plants-table and --tokens-table"},
		{
			"an origin with a slash", "serve --allow-origin https://example.com/",
			"--allow-origin must be an origin, for example",
		},
		{
			"an issuer without an audience", "serve --token-issuer https://example.com",
			"--token-audience ($TOKEN_AUDIENCE): issuer and audience must be set together",
		},
		{"a mistyped token", "serve --serve-token pst_mistyped", "--serve-token ($SERVE_TOKEN) is not a token that serve has printed"},
		{"an address without a port", "serve --addr localhost", "--addr must be HOST:PORT, for example"},
		{"a port too large", "serve --addr 127.0.0.1:99999", "--addr must be HOST:PORT, for example"},
	})
}

// TestFailures checks that another failure has the exit status 1, and says what is wrong.
func TestFailures(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	checkFailures(t, 1, []failure{
		{"no region", "token list --table tokens", "no AWS region: set AWS_REGION"},
		{"no DynamoDB to list", "token list --endpoint-url http://u:secret@127.0.0.1:1", "DynamoDB at http://u:xxxxx@127.0.0.1:1"},
		{"no DynamoDB to revoke", "token revoke --endpoint-url http://127.0.0.1:1 id", "; tokens left to revoke: 1"},
		{"no DynamoDB to issue", "token issue --endpoint-url http://127.0.0.1:1 --subject ann", "its secret is lost: revoke it"},
		{"an address in use", "serve --addr " + taken.Addr().String(), "address already in use"},
	})
}

// TestExamplesOfHelp checks that the help of every command has an example, and that each example is a
// valid call.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	parser := newParser(t.Context())
	// An example is an indented line: plantstore and its arguments, up to a pipe, a comment or a
	// redirection.
	example := regexp.MustCompile(`(?m)^ {4}(?:TOKEN=\$\()?plantstore ([^|#)<\n]+)`)
	for _, command := range append(parser.Model.Leaves(true), parser.Model.Node) {
		calls := example.FindAllStringSubmatch(command.Detail+"\n"+command.Help, -1)
		for _, call := range calls {
			if _, err := parser.Parse(strings.Fields(call[1])); err != nil {
				t.Errorf("help of %s: plantstore %s: %v", command.Path(), call[1], err)
			}
		}
		if len(calls) == 0 {
			t.Errorf("help of %s has no example", command.Path())
		}
	}
}

// TestTablesCreate checks that the other commands ask for `tables create`, and that it can be repeated.
func TestTablesCreate(t *testing.T) {
	t.Parallel()
	run := rand.Text() // the tables stay
	plants, tokens := "p-"+run, "t-"+run
	p := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	for _, args := range []string{"token list", "serve --addr 127.0.0.1:0"} {
		p.check(t, args, result{status: 1, stderr: ".*the table does not exist: [pt]-" + run + "; .*`plantstore tables create`.*\n"})
	}
	for range 2 {
		p.check(t, "tables create", result{stdout: "Tables " + plants + " and " + tokens + " exist.\n"})
	}
	swapped := "tables create --plants-table " + tokens + " --tokens-table " + plants
	p.check(t, swapped, result{status: 1, stderr: ".*table " + tokens + " .*\n"})
}

// tokenTool returns a command with an empty table of tokens, and the store in it.
func tokenTool(t *testing.T) (tool, *dynamo.Tokens) {
	t.Helper()
	client, _, tokens := dynamotest.Tables(t)
	p := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "TOKENS_TABLE="+tokens)
	return p, &dynamo.Tokens{Client: client, Table: tokens}
}

// issue issues a token and returns its description.
func (p tool) issue(t *testing.T, subject, ttl string) row {
	t.Helper()
	got := p.run(t, "token issue -o json --subject "+subject+" --ttl "+ttl, "")
	var issued row
	if err := json.Unmarshal([]byte(got.stdout), &issued); err != nil || got.status != 0 {
		t.Fatalf("token issue = %+v, %v, want a token", got, err)
	}
	return issued
}

// list returns the tokens that `token list` prints, with these flags besides.
func (p tool) list(t *testing.T, flags string, status int) []row {
	t.Helper()
	got := p.run(t, "token list -o json "+flags, "")
	var listed []row
	if err := json.Unmarshal([]byte(got.stdout), &listed); err != nil || got.status != status {
		t.Fatalf("token list %s = %+v, %v, want tokens and status %d", flags, got, err, status)
	}
	return listed
}

// states returns the state of each token, by id.
func (p tool) states(t *testing.T) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, listed := range p.list(t, "", 0) {
		states[listed.ID] = listed.State
	}
	return states
}

// revoke revokes the token that the argument, or standard input, denotes.
func (p tool) revoke(t *testing.T, argument, stdin, id string) {
	t.Helper()
	want := result{stdout: "Token " + id + " is revoked.\n"}
	if got := p.run(t, "token revoke "+argument, stdin); got != want {
		t.Errorf("token revoke = %+v, want %+v", got, want)
	}
}

// TestTokens checks that a token is stored as it was issued, and that the list has the soonest expiry
// first.
func TestTokens(t *testing.T) {
	t.Parallel()
	p, store := tokenTool(t)
	bob := p.issue(t, "bob", "30d")
	ann := p.issue(t, "ann", "2h")
	stored, err := store.Find(t.Context(), ann.ID)
	if err != nil || stored.Digest != token.Digest(ann.Token) {
		t.Errorf("token issue = %+v, which is stored as %+v, %v", ann, stored, err)
	}
	if lifetime := ann.ExpiresAt.Sub(ann.CreatedAt).Round(time.Minute); lifetime != 2*time.Hour {
		t.Errorf("token issue --ttl 2h = %+v, which is valid for %v", ann, lifetime)
	}
	ann.Token, bob.Token = "", "" // list shows no token
	t.Run("list", func(t *testing.T) {
		if got, want := p.list(t, "", 0), []row{ann, bob}; !slices.Equal(got, want) {
			t.Errorf("token list = %+v, want the soonest expiry first: %+v", got, want)
		}
	})
	t.Run("list as a table", func(t *testing.T) {
		const at = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
		rows := ann.ID + " +ann +" + at + " +" + at + " +valid\n" + bob.ID + " +bob +" + at + " +" + at + " +valid\n"
		p.check(t, "token list", result{stdout: "ID +SUBJECT +CREATED +EXPIRES +STATE\n" + rows})
	})
	t.Run("list those that expire soon", func(t *testing.T) {
		if got, want := p.list(t, "--expiring 1d", 1), []row{ann}; !slices.Equal(got, want) {
			t.Errorf("token list --expiring 1d = %+v, want %+v", got, want)
		}
		p.check(t, "token list --expiring 1d", result{
			status: 1, stdout: "ID .*\n.* ann .*\n", stderr: ".*tokens expire soon: issue new ones.*\n",
		})
		if got := p.list(t, "--expiring 1h", 0); len(got) != 0 {
			t.Errorf("token list --expiring 1h = %+v, want no token", got)
		}
	})
	t.Run("standard output has the token alone", func(t *testing.T) {
		p.check(t, "token issue --subject eve", result{stdout: `pst_\w+\n`, stderr: "Token .* for eve, .*\n"})
	})
}

// TestRevoke checks that an id, a token or standard input denotes the one token that is revoked, and
// that this can be repeated.
func TestRevoke(t *testing.T) {
	t.Parallel()
	p, _ := tokenTool(t)
	valid := p.issue(t, "ann", "1h")
	byID := p.issue(t, "ann", "1h")
	byInput := p.issue(t, "ann", "1h")
	byToken := p.issue(t, "ann", "1h")
	p.revoke(t, byID.ID, "", byID.ID)
	p.revoke(t, byID.ID, "", byID.ID)
	p.revoke(t, "-", byInput.Token+"\n", byInput.ID)
	p.revoke(t, byToken.Token, "", byToken.ID)
	want := map[string]string{valid.ID: "valid", byID.ID: "revoked", byInput.ID: "revoked", byToken.ID: "revoked"}
	if got := p.states(t); !maps.Equal(got, want) {
		t.Errorf("the tokens are %v, want %v", got, want)
	}
	listed := p.list(t, "--expiring 30d", 1)
	if len(listed) != 1 || listed[0].ID != valid.ID || listed[0].State != "valid" {
		t.Errorf("token list --expiring 30d = %v, want %s alone, which is not revoked", listed, valid.ID)
	}
	p.check(t, "token revoke nobody pst_x - "+valid.ID, result{
		status: 2, stdout: "Token " + valid.ID + " is revoked.\n",
		stderr: ".* id 2 of 4: the argument resembles a token, .*\n +token nobody: no such token, .*\n +token -: no such token, .*\n",
	})
	if got := p.states(t)[valid.ID]; got != "revoked" {
		t.Errorf("the last of the tokens is %s, want revoked", got)
	}
}

// TestRevokeMany checks that the pipe in the help of revoke revokes all tokens of a subject, or all
// that were issued since a date.
func TestRevokeMany(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		processtest.Lacks(t, "jq: apt-get install jq")
	}
	pipe := regexp.MustCompile(`plantstore token list .* xargs .*`).FindString(examples["revoke"])
	pipe = strings.ReplaceAll(pipe, " --stack plant-store-dev", "") // the environment names the table
	p, store := tokenTool(t)
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for _, issued := range []token.Token{
		{ID: "a", Digest: "d", Subject: "alice", CreatedAt: day(21)},
		{ID: "--endpoint-url=http://127.0.0.1:1", Digest: "d", Subject: "alice", CreatedAt: day(21)},
		{ID: "--help", Digest: "d", Subject: "alice", CreatedAt: day(21)},
		{ID: "- and 'more", Digest: "d", Subject: "alice", CreatedAt: day(21)},
		{ID: "b", Digest: "d", Subject: "bob", CreatedAt: day(19)},
		{ID: "c", Digest: "d", Subject: "bob", CreatedAt: day(20)},
	} {
		issued.ExpiresAt = time.Now().Add(time.Hour)
		if err := store.Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name, condition string
		valid           []string // afterwards, by id
	}{
		{name: "all of a subject, whatever their ids", condition: `.subject == "alice"`, valid: []string{"b", "c"}},
		{name: "all since a date", condition: `.created_at >= "2026-11-20"`, valid: []string{"b"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			p.shell(t, strings.ReplaceAll(pipe, `.subject == "alice"`, step.condition))
			states := p.states(t)
			maps.DeleteFunc(states, func(_, state string) bool { return state == "revoked" })
			if got := slices.Sorted(maps.Keys(states)); !slices.Equal(got, step.valid) {
				t.Errorf("the tokens that are not revoked are %q, want %q", got, step.valid)
			}
		})
	}
}

// shell runs a line of the shell in which the command is plantstore.
func (p tool) shell(t *testing.T, line string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(p.binary, filepath.Join(folder, "plantstore")); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", line)
	command.Env = append([]string{"PATH=" + folder + ":" + os.Getenv("PATH")}, p.environment...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestListOfOtherItems checks that an item of another tool neither hides the tokens nor controls the
// terminal.
func TestListOfOtherItems(t *testing.T) {
	t.Parallel()
	p, store := tokenTool(t)
	for _, item := range []token.Token{
		{ID: "odd", Digest: "d", Subject: "eve\x1b[2J", ExpiresAt: time.Now()},
		{ID: "un\x1breadable"}, // without a digest
	} {
		if err := store.Add(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	const unread = `.*the item with the id "un\\x1breadable" is no token\n`
	p.check(t, "token list", result{status: 1, stdout: `ID .*\nodd +"eve\\x1b\[2J" .* expired\n`, stderr: unread})
	p.check(t, "token list --expiring 1d", result{status: 1, stdout: "ID .*\n", stderr: unread})
}

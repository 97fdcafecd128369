package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/lambdatest"
	"plantstore/internal/token"
)

func TestMain(m *testing.M) { lambdatest.Main(m, main) }

// The authorizer uses the table that TOKENS_TABLE names. It logs a request that it does not allow.
func TestTokenInTable(t *testing.T) {
	client, _, table := dynamotest.NewTables(t)
	bearer, issued, err := token.Issue("alice", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&dynamo.Tokens{Client: client, Table: table}).Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	environment := lambdatest.Environment(dynamotest.Endpoint(t), "TOKENS_TABLE="+table)
	event := `{"headers":{"authorization":"Bearer ` + bearer + `"}}`
	answers, log := lambdatest.Invoke(t, os.Args[0], environment, event, "{}")
	if got, want := answers[0].Body, `"verdict":"allow"`; !strings.Contains(got, want) {
		t.Errorf("the authorizer answers %s, want %s", got, want)
	}
	if want := `"level":"INFO","message":"authorize","commit":"","apigw_request_id":"","code":2001,`; !strings.Contains(log, want) {
		t.Errorf("the authorizer logs %s, want %s", log, want)
	}
}

// A function that cannot run exits with status 1 and logs why.
func TestMissingVariable(t *testing.T) {
	function := exec.CommandContext(t.Context(), os.Args[0])
	// With GOCOVERDIR, `go test -cover` adds no warning to the log.
	function.Env = lambdatest.Environment("http://127.0.0.1:1", "GOCOVERDIR="+t.TempDir())
	got, _ := function.CombinedOutput() // the exit status says whether it failed
	const want = `^{"timestamp":"2[^"]+","level":"ERROR","message":"cannot run","commit":"",` +
		`"error":"environment variable TOKENS_TABLE is not set"}\n$`
	if status := function.ProcessState.ExitCode(); status != 1 || !regexp.MustCompile(want).Match(got) {
		t.Errorf("the authorizer exits with %d and logs %s, want 1 and %s", status, got, want)
	}
}

package main

import (
	"encoding/json/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m, main) }

// The authorizer allows a token that is in its table: main gives it the verifier that reads the table.
func TestTokenInTable(t *testing.T) {
	client, _, table := dynamotest.NewTables(t)
	bearer, issued, err := token.Issue("alice", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&dynamo.Tokens{Client: client, Table: table}).Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	environment := processtest.Environment(dynamotest.Endpoint(t), "TOKENS_TABLE="+table)
	got := processtest.Invoke(t, os.Args[0], environment, `{"headers":{"authorization":"Bearer `+bearer+`"}}`)
	if want := `"verdict":"allow"`; !strings.Contains(got[0], want) {
		t.Errorf("the authorizer answers %s, want %s", got[0], want)
	}
}

// A function logs how long it took to open. If it cannot run, it logs why and exits with 1. Each line is JSON with
// the function's version and a time.
func TestLog(t *testing.T) {
	complete := processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:1",
		"AWS_LAMBDA_FUNCTION_VERSION=7")
	tests := []struct {
		name   string
		change string // of the environment; the last value of a variable counts
		want   string // the error; empty if it opens
	}{
		{name: "no table of tokens", change: "TOKENS_TABLE=", want: "environment variable TOKENS_TABLE is not set"},
		{name: "no region", change: "AWS_REGION=", want: "environment variable AWS_REGION is not set"},
		{name: "no secret key", change: "AWS_SECRET_ACCESS_KEY=", want: "environment variable AWS_SECRET_ACCESS_KEY is not set"},
		{name: "no runtime"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			function := exec.CommandContext(t.Context(), os.Args[0])
			function.Env = slices.Concat(complete, []string{test.change})
			printed, _ := function.CombinedOutput() // the exit status says whether it failed
			var line struct {
				Level, Version, Error string
				Timestamp             time.Time
				Took                  *int `json:"init_ms"`
			}
			if err := json.Unmarshal(printed, &line, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatalf("log = %q, want one line of JSON: %v", printed, err)
			}
			if line.Version != "7" || line.Timestamp.IsZero() || (line.Level == "ERROR") != (test.want != "") {
				t.Errorf("log = %s, want the version 7, a time, and the level ERROR for an error", printed)
			}
			if status := function.ProcessState.ExitCode(); status != 1 || line.Error != test.want || (line.Took == nil) != (test.want != "") {
				t.Errorf("exit status %d, log = %s, want 1 and the error %q or init_ms", status, printed, test.want)
			}
		})
	}
}

package main

import (
	"bytes"
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
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

// A function logs how long it took to open. If it cannot run, it logs why and exits with 1. It also logs why an
// invocation failed. Each line is JSON with the function's version and a time.
func TestFatalErrors(t *testing.T) {
	// A runtime whose invocation has no deadline, which is an error, and which refuses every answer.
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer runtime.Close()
	complete := processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:1", "AWS_LAMBDA_FUNCTION_VERSION=7")
	tests := []struct {
		name   string
		change string // of the environment; the last value of a variable counts
		opens  bool
		want   string // part of an error
	}{
		{name: "no table of tokens", change: "TOKENS_TABLE=", want: "environment variable TOKENS_TABLE is not set"},
		{name: "no region", change: "AWS_REGION=", want: "environment variable AWS_REGION is not set"},
		{name: "no secret key", change: "AWS_SECRET_ACCESS_KEY=", want: "environment variable AWS_SECRET_ACCESS_KEY is not set"},
		{
			name:   "a malformed endpoint",
			change: "AWS_ENDPOINT_URL_DYNAMODB=localhost", want: "environment variable AWS_ENDPOINT_URL_DYNAMODB is not",
		},
		{name: "no runtime", opens: true, want: "connection refused"},
		{
			name:   "an invocation that fails",
			change: "AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String(), opens: true, want: "failed to parse deadline",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			function := exec.CommandContext(t.Context(), os.Args[0])
			function.Env = slices.Concat(complete, []string{test.change})
			printed, _ := function.CombinedOutput() // the exit status says whether it failed
			var opened bool
			var failures string // of all lines
			for text := range bytes.Lines(printed) {
				var line struct {
					Level, Version, Error string
					Timestamp             time.Time
					Took                  *int `json:"init_ms"`
				}
				if err := json.Unmarshal(text, &line, json.MatchCaseInsensitiveNames(true)); err != nil {
					t.Fatalf("log = %q, want JSON: %v", text, err)
				}
				if line.Version != "7" || line.Timestamp.IsZero() || (line.Level == "ERROR") != (line.Error != "") {
					t.Errorf("log = %s, want the version 7, a time, and the level ERROR for an error", text)
				}
				opened = opened || line.Took != nil
				failures += line.Error
			}
			if opened != test.opens {
				t.Errorf("log = %s, want init_ms: %t", printed, test.opens)
			}
			if status := function.ProcessState.ExitCode(); status != 1 || !strings.Contains(failures, test.want) {
				t.Errorf("exit status %d, log = %s, want 1 and an error with %q", status, printed, test.want)
			}
		})
	}
}

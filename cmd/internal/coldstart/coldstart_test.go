package coldstart

import (
	"bytes"
	"encoding/json/v2"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"plantstore/test/processtest"
)

// A function opens its connection to DynamoDB before its first invocation, when Lambda gives it more CPU.
func TestOpen(t *testing.T) {
	requests := make(chan string, 10)
	database := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.Method }))
	defer database.Close()
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", database.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	t.Setenv("TABLE", "plants")
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	resources, err := Open("TABLE")
	if err != nil || resources.Table != "plants" {
		t.Fatalf("Open = %+v, %v, want the table plants", resources, err)
	}
	if got := len(requests); got != 1 {
		t.Errorf("Open sends %d requests to DynamoDB, want 1", got)
	}
	options := resources.Client.Options()
	got, err := options.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session", Source: got.Source}
	if got != want || options.Region != "eu-central-1" {
		t.Errorf("Open = credentials %+v in %s, want %+v in eu-central-1", got, options.Region, want)
	}
}

// A function logs how long it took to open. If it cannot run, it logs why and exits with 1. It also logs why an
// invocation failed. Each line is JSON with the function's version and a time.
func TestFatalErrors(t *testing.T) {
	authorizer := processtest.Build(t, "cmd/authorizer")
	createplant := processtest.Build(t, "cmd/createplant")
	// A runtime whose invocation has no deadline, which is an error, and which refuses every answer.
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer runtime.Close()
	complete := processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:1", "AWS_LAMBDA_FUNCTION_VERSION=7")
	tests := []struct {
		name, binary string
		change       string // of the environment; the last value of a variable counts
		opens        bool
		want         string // part of an error
	}{
		{name: "no table of tokens", binary: authorizer, change: "TOKENS_TABLE=", want: "environment variable TOKENS_TABLE is not set"},
		{name: "no table of plants", binary: createplant, change: "PLANTS_TABLE=", want: "environment variable PLANTS_TABLE is not set"},
		{name: "no region", binary: authorizer, change: "AWS_REGION=", want: "environment variable AWS_REGION is not set"},
		{name: "no secret key", binary: authorizer, change: "AWS_SECRET_ACCESS_KEY=", want: "environment variable AWS_SECRET_ACCESS_KEY is not set"},
		{
			name: "a malformed endpoint", binary: authorizer,
			change: "AWS_ENDPOINT_URL_DYNAMODB=localhost", want: "environment variable AWS_ENDPOINT_URL_DYNAMODB is not",
		},
		{name: "no runtime", binary: authorizer, opens: true, want: "connection refused"},
		{
			name: "an invocation that fails", binary: authorizer,
			change: "AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String(), opens: true, want: "failed to parse deadline",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			function := exec.CommandContext(t.Context(), test.binary)
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

// What others write by package log is dropped: net/http writes responses there.
func TestOthersLogNothing(t *testing.T) {
	var written bytes.Buffer
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	logFailures(newLog(&written, ""))
	log.Print("Unsolicited response received on idle HTTP channel")
	if written.Len() > 0 {
		t.Errorf("log = %s, want nothing", &written)
	}
}

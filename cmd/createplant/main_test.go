package main

import (
	"encoding/json/v2"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// asFunction in the environment makes the test binary the function.
const asFunction = "TEST_BINARY_IS=function"

func TestMain(m *testing.M) {
	if slices.Contains(os.Environ(), asFunction) {
		main()
		return
	}
	m.Run()
}

// A function opens its connection to DynamoDB before its first invocation, when Lambda gives it more CPU.
func TestConnectsAtStart(t *testing.T) {
	requests := make(chan string, 10)
	database := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.Method }))
	defer database.Close()
	function := exec.CommandContext(t.Context(), os.Args[0])
	function.Env = []string{
		asFunction, "GOCOVERDIR=" + t.TempDir(), "AWS_ENDPOINT_URL_DYNAMODB=" + database.URL, "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9",
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "PLANTS_TABLE=plants",
	}
	_ = function.Run() // it ends, because there is no runtime
	if got := len(requests); got != 1 {
		t.Errorf("the function sends %d requests at its start, want 1", got)
	}
}

// A function that cannot run logs why, in one line of JSON, and exits with 1.
func TestFatalErrors(t *testing.T) {
	const nobody = "127.0.0.1:9" // nobody listens there
	complete := []string{
		asFunction, "GOCOVERDIR=" + t.TempDir(), "AWS_ENDPOINT_URL_DYNAMODB=http://" + nobody,
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "PLANTS_TABLE=plants",
	}
	tests := []struct {
		name   string
		change string // of the environment; the last value of a variable counts
		want   string // part of the error
	}{
		{"no table", "PLANTS_TABLE=", "environment variable PLANTS_TABLE is not set"},
		{"no region", "AWS_REGION=", "environment variable AWS_REGION is not set"},
		{"no key", "AWS_ACCESS_KEY_ID=", "environment variable AWS_ACCESS_KEY_ID is not set"},
		{"no secret key", "AWS_SECRET_ACCESS_KEY=", "environment variable AWS_SECRET_ACCESS_KEY is not set"},
		{"a malformed endpoint", "AWS_ENDPOINT_URL_DYNAMODB=localhost", "environment variable AWS_ENDPOINT_URL_DYNAMODB is not"},
		{"no runtime", "AWS_LAMBDA_RUNTIME_API=", "AWS_LAMBDA_RUNTIME_API"},
		{"a runtime that is not there", "AWS_LAMBDA_RUNTIME_API=" + nobody, "connection refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			function := exec.CommandContext(t.Context(), os.Args[0])
			function.Env = slices.Concat(complete, []string{test.change})
			log, err := function.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 1 {
				t.Errorf("the function ends with %v, want exit status 1", err)
			}
			var line struct{ Level, Error string }
			if err := json.Unmarshal(log, &line, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatalf("log = %q, want one line of JSON: %v", log, err)
			}
			if line.Level != "ERROR" || !strings.Contains(line.Error, test.want) {
				t.Errorf("log = %s, want an error with %q", log, test.want)
			}
		})
	}
}

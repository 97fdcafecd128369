package processtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
)

// Environment returns what a command needs for the DynamoDB at endpoint, and what
// else is given, such as the names of its tables.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

// AWS starts a server that stands for AWS and refuses every request. It returns the
// environment of the test with what makes a program call it, and the number of calls.
func AWS(t testing.TB) (environment []string, calls func() int32) {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	environment = append(os.Environ(), Environment(server.URL, "AWS_ENDPOINT_URL="+server.URL,
		"AWS_DEFAULT_REGION=us-east-1", "AWS_MAX_ATTEMPTS=1", "AWS_PAGER=", "SAM_CLI_TELEMETRY=0")...)
	return environment, requests.Load
}

// InMemory returns the environment of a server whose stores are in memory,
// whatever the environment of the test is.
func InMemory() []string {
	return []string{
		"AWS_ENDPOINT_URL_DYNAMODB=", "AWS_ENDPOINT_URL=", "PLANTS_TABLE=", "TOKENS_TABLE=", "TOKEN_ISSUER=", "TOKEN_AUDIENCE=",
		"ALLOW_ORIGIN=", "TOKEN=",
	}
}

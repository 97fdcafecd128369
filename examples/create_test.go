package examples

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// The client retries with the same key until the outcome is certain, at most four times. It sends nothing for a
// loopback address to a proxy.
func TestClient(t *testing.T) {
	const lost, created, unknown, exists = "", "200 {}", `400 {"error":5002}`, `400 {"error":3001}`
	tests := []struct {
		name     string
		answers  []string
		requests int
		status   int // of the client
	}{
		{name: "a retry gets the plant", answers: []string{lost, unknown, created}, requests: 3, status: 0},
		{name: "nobody answers", answers: []string{lost}, requests: 4, status: 3},
		{name: "no answer, then another plant has the id", answers: []string{lost, exists}, requests: 2, status: 1},
		{name: "the store stays unavailable", answers: []string{unknown}, requests: 4, status: 3},
	}
	if _, err := exec.LookPath("python3"); err != nil {
		processtest.SkipWithout(t, "python3")
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := test.answers[min(len(keys), len(test.answers)-1)]
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if answer == lost {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(answer, ":5") {
					w.Header().Set("Retry-After", "0")
				}
				status, _ := strconv.Atoi(answer[:3]) // it is a number
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer[4:]) // the client reads it
			}))
			defer server.Close()
			client := exec.CommandContext(t.Context(), "python3", "create.py", `{"id":1,"name":"Monstera"}`)
			client.Env = append(os.Environ(), "PYTHONPATH=testdata", "PYTHONDONTWRITEBYTECODE=1", "http_proxy=http://127.0.0.1:1", "no_proxy=", "URL="+server.URL, "TOKEN=secret")
			out, _ := client.CombinedOutput() // its status says whether it failed
			if status := client.ProcessState.ExitCode(); status != test.status || len(keys) != test.requests {
				t.Errorf("it ends with %d after %d requests: %s; want %d after %d", status, len(keys), out, test.status, test.requests)
			}
			if keys[0] == "" || strings.Join(keys, "") != strings.Repeat(keys[0], len(keys)) {
				t.Errorf("it sends the keys %q, want one key", keys)
			}
		})
	}
}

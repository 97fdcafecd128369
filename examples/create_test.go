package examples

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// The client follows the retry rules in openapi.yaml, and every request has the same key. It uses no proxy.
func TestClient(t *testing.T) {
	const (
		lost        = "" // no answer
		created     = `200 {"name":"fern"}`
		crashed     = `502 {"error":"Bad Gateway"}`
		throttled   = `429 {"message":"Too Many Requests"}`
		unknown     = `400 {"error":5002}`
		unavailable = `400 {"error":5003}`
		internal    = `400 {"error":5001}`
		invalid     = `400 {"error":1004}`
		exists      = `400 {"error":3001}`
		expired     = `400 {"error":2003}`
	)
	if _, err := exec.LookPath("python3"); err != nil {
		processtest.SkipWithout(t, "python3")
	}
	for _, test := range []struct {
		name         string
		answers      []string // the last one repeats
		wantStatus   int      // exit status
		wantRequests int
	}{
		{"the first attempt creates the plant", []string{created}, 0, 1},
		{"a retry gets the plant", []string{lost, unknown, created}, 0, 3},
		{"a crash, then throttling, then the plant", []string{crashed, throttled, unavailable, created}, 0, 4},
		{"another server's page", []string{"200 <html>"}, 2, 1},
		{"another server's error", []string{`400 {"error":"Bad Request"}`}, 2, 1},
		{"a refused plant", []string{invalid}, 1, 1},
		{"an outcome that stays unknown", []string{unknown}, 2, 4},
		{"unknown, then another plant has the id", []string{unknown, exists}, 1, 2},
		{"an internal error", []string{internal}, 2, 1},
		{"an expired token", []string{expired}, 1, 1},
		{"unknown, then an expired token", []string{unknown, expired}, 2, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := test.answers[min(len(keys), len(test.answers)-1)]
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if answer == lost {
					panic(http.ErrAbortHandler)
				}
				var status int
				_, _ = fmt.Sscan(answer, &status) // its first word
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer[4:]) // the client reads it
			}))
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second) // without Retry-After, four attempts take 7 s
			defer cancel()
			client := exec.CommandContext(ctx, "python3", "create.py", `{"id":1,"name":"fern"}`)
			client.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "no_proxy=", "URL="+server.URL, "TOKEN=secret")
			out, _ := client.CombinedOutput() // its status says whether it failed
			if status := client.ProcessState.ExitCode(); status != test.wantStatus || len(keys) != test.wantRequests {
				t.Errorf("exit status %d after %d requests, want %d after %d\n%s",
					status, len(keys), test.wantStatus, test.wantRequests, out)
			}
			if keys[0] == "" || strings.Join(keys, "") != strings.Repeat(keys[0], len(keys)) {
				t.Errorf("the client sends the keys %q, want one key", keys)
			}
		})
	}
}

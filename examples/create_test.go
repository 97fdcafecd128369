package examples

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The client follows the retry rules in openapi.yaml. It makes one request for each answer, and uses no proxy.
func TestClient(t *testing.T) {
	const (
		created = "200\n\n{\"name\":\"fern\",\"headers\":\"Bearer secret\"}"
		trickle = "200\n\n..."
		crashed = "503\nRetry-After: 0\n\n"
		unknown = "400\nRetry-After: 0\n\n{\"error\":5002}"
		expired = "400\n\n{\"error\":2003}"
		notNow  = "400\nRetry-After: 0\n\n{\"error\":5003}"
	)
	tooLong := "200\n\n" + strings.Repeat(" ", 7<<20) + `{"name":"fern"}`
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("skipped: there is no python3")
	}
	for _, test := range []struct {
		name        string
		variable    string // in the client's environment
		answers     []string
		wantStatus  int    // exit status
		wantSeconds int    // from the first request to the last
		wantOutput  string // a part
	}{
		{name: "success", answers: []string{created}, wantOutput: "\n200 {\"name\":\"fern\",\"headers\":\"Bearer TOKEN\"}\n"},
		{name: "no answers", answers: []string{"", "200\nContent-Length: 9\n\n{", created}, wantSeconds: 1 + 2},
		{name: "Retry-After", answers: []string{"429\nRetry-After: 2\n\n", created}, wantSeconds: 2},
		{name: "a date", answers: []string{"429\nRetry-After: Sat, 28 Nov 2026 18:00:00 GMT\n\n", created}, wantSeconds: 1},
		{name: "a long wait", answers: []string{"429\nRetry-After: 61\n\n"}, wantStatus: 2, wantOutput: "429"},
		{name: "a trickle", answers: []string{trickle, created}, wantSeconds: 10},
		{name: "a long answer", answers: []string{tooLong}, wantStatus: 2},
		{name: "no success", answers: []string{unknown, crashed, notNow, crashed}, wantStatus: 2},
		{name: "another server's JSON", answers: []string{"400\n\n[1004]"}, wantStatus: 2, wantOutput: "400 [1004]\n"},
		{name: "another server's error", answers: []string{"400\n\n{\"error\":\"Bad Request\"}"}, wantStatus: 2},
		{name: "another server", answers: []string{"200\n\n<html>"}, wantStatus: 2},
		{name: "an internal error", answers: []string{"400\n\n{\"error\":5001}"}, wantStatus: 2},
		{name: "a refused plant", answers: []string{"400\n\n{\"error\":1004}"}, wantStatus: 1},
		{name: "a refused plant after a crash", answers: []string{crashed, "400\n\n{\"error\":1004}"}, wantStatus: 1},
		{name: "another plant after a crash", answers: []string{crashed, "400\n\n{\"error\":3001}"}, wantStatus: 1},
		{name: "an expired token", answers: []string{expired}, wantStatus: 1},
		{name: "an expired token after a crash", answers: []string{crashed, expired}, wantStatus: 2},
		{name: "an old key", variable: "IDEMPOTENCY_KEY=old", answers: []string{expired}, wantStatus: 2, wantOutput: "=old\n"},
		{name: "a token with a line end", variable: "TOKEN=secret\r", wantStatus: 2, wantOutput: "usage"},
		{name: "a URL without a host", variable: "URL=http:", wantStatus: 2, wantOutput: "usage"},
		{name: "a URL without http", variable: "URL=//localhost", wantStatus: 2, wantOutput: "usage"},
		{name: "an unexpected exception", variable: "URL=http://[", wantStatus: 2, wantOutput: "ValueError"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := os.Create(filepath.Join(t.TempDir(), "output"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = output.Close() }()
			var requests []time.Time
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests = append(requests, time.Now())
				body, _ := io.ReadAll(r.Body) // got shows it if a part of this or of the next is missing
				printed, _ := os.ReadFile(output.Name())
				key := r.Header.Get("Idempotency-Key")
				got := fmt.Sprintln(r.Method, r.URL, r.Header["Authorization"], string(body), string(printed))
				if want := "POST /plants [Bearer secret] fërn IDEMPOTENCY_KEY=" + key + "\n\n"; got != want || key == "" {
					t.Errorf("the request and the output before it are %q, want %q", got, want)
				}
				answer := test.answers[len(requests)-1]
				connection, _, _ := http.NewResponseController(w).Hijack() // a test server's can be taken over
				_, err := io.WriteString(connection, "HTTP/1.1 "+answer)
				for answer == trickle && err == nil { // until the client has gone
					time.Sleep(100 * time.Millisecond)
					_, err = io.WriteString(connection, ".")
				}
				_ = connection.Close()
			}))
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client := exec.CommandContext(ctx, "python3", "create.py", "fërn")
			client.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "no_proxy=", "IDEMPOTENCY_KEY=",
				"URL="+server.URL, "TOKEN=secret", test.variable)
			client.Stdout, client.Stderr = output, output
			_ = client.Run() // its status says whether it failed
			status := client.ProcessState.ExitCode()
			printed, _ := os.ReadFile(output.Name())
			if status != test.wantStatus || len(requests) != len(test.answers) ||
				!strings.Contains(string(printed), test.wantOutput) || strings.Contains(string(printed), "secret") {
				t.Errorf("exit status %d after %d requests, want %d after %d and %q in this output:\n%.999s",
					status, len(requests), test.wantStatus, len(test.answers), test.wantOutput, printed)
			}
			if len(requests) > 0 {
				took := requests[len(requests)-1].Sub(requests[0])
				if late := took - time.Duration(test.wantSeconds)*time.Second; late < 0 || late > 3*time.Second {
					t.Errorf("the last request is sent after %v, want %d s", took, test.wantSeconds)
				}
			}
		})
	}
}

// Package examples holds a client of the Plant Store, create.py, complete in one file
// without a dependency. Its tests run the client against a server whose answers get
// lost, and README's own curl command.
//
// The client creates a plant, in at most four attempts. All attempts have the same
// Idempotency-Key, so the plant is created once. The client repeats its request
//   - if it gets no answer,
//   - if the answer has Retry-After, after as many seconds,
//   - if the gateway answers 429 or 5xx.
//
// It reports each repetition on standard error, and prints the Plant or the Error.
// After an attempt that may have created the plant, only a Plant or an error about
// the request or the plant (1xxx, 3xxx) makes the outcome certain. The code of an
// Error, not the status, says whether that attempt may have created the plant.
package examples

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// An answer is what the client gets: nothing if the status is 0.
type answer struct {
	hangs  bool // until the client gives up
	status int
	header http.Header
	body   string
}

const (
	newPlant = `{"id":1,"name":"Monstera","tag":"indoor"}`
	plant    = `{"name":"Monstera","tag":"indoor"}`
)

var (
	hanging     = answer{hangs: true}
	created     = answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: plant}
	lost        = answer{}
	throttled   = answer{status: 429}
	expired     = answer{status: 400, body: `{"error":2003,"message":"A message."}`}
	exists      = answer{status: 400, body: `{"error":3001,"message":"A message."}`}
	unavailable = answer{status: 400, header: retryAfter("0"), body: `{"error":5002,"message":"A message."}`}
	unknown     = answer{status: 400, header: retryAfter("3"), body: `{"error":5004,"message":"A message."}`} // the client waits 1, 2 or 4 s by itself
	failed      = answer{status: 503, header: retryAfter("3600"), body: "\xff"}
	html        = answer{status: 200, header: http.Header{"Content-Type": {"text/html"}}, body: plant}
	redirect    = answer{status: 302, header: http.Header{"Location": {"/elsewhere"}, "Retry-After": {"Sat, 21 Nov 2026 12:00:00 GMT"}}}
)

func retryAfter(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }

// A service gives each request of the client the next of its answers. The last one repeats.
type service struct {
	t        *testing.T
	answers  []answer
	keys     []string  // of the requests
	earliest time.Time // when the next request may come
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if time.Now().Before(s.earliest) {
		s.t.Error("it does not wait as Retry-After says")
	}
	if r.URL.Path != "/plants" {
		s.t.Errorf("it requests %s, and may show the token to another server", r.URL.Path)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || string(body) != newPlant {
		s.t.Errorf("it sends %q, %v, want %q", body, err, newPlant)
	}
	next := s.answers[min(len(s.keys), len(s.answers)-1)]
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	if next.hangs {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
			s.t.Error("it waits for more than 30 s for an answer")
		}
	}
	if next.status == 0 {
		panic(http.ErrAbortHandler)
	}
	seconds, err := strconv.Atoi(next.header.Get("Retry-After"))
	if err == nil && seconds < 60 {
		s.earliest = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	maps.Copy(w.Header(), next.header)
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body) // the client may have gone
}

// A conversation is what the client gets, and what it must do then.
type conversation struct {
	name     string
	answers  []answer
	requests int
	status   int    // exit status
	prints   string // how its output begins
}

// The client does what the comment on this package says.
func TestClient(t *testing.T) {
	conversations := []conversation{
		{name: "a retry gets the plant", answers: []answer{lost, unknown, throttled, created}, requests: 4, status: 0, prints: plant},
		{name: "nobody answers", answers: []answer{lost}, requests: 4, status: 3, prints: "no answer"},
		{name: "no answer, then an expired token", answers: []answer{lost, expired}, requests: 2, status: 3, prints: expired.body},
		{name: "5004, then attempts that change nothing", answers: []answer{unknown, unavailable}, requests: 4, status: 3, prints: unavailable.body},
		{name: "5004, then another plant has the id", answers: []answer{unknown, exists}, requests: 2, status: 1, prints: exists.body},
		{name: "an attempt that changes nothing, then an expired token", answers: []answer{unavailable, expired}, requests: 2, status: 1, prints: expired.body},
		{name: "no answer to a first request that stays open", answers: []answer{hanging, created}, requests: 2, status: 0, prints: plant},
		{
			name:     "5002 with another status, then an expired token",
			answers:  []answer{{status: 503, header: retryAfter("0"), body: unavailable.body}, expired},
			requests: 2, status: 1, prints: expired.body,
		},
		{name: "another service answers", answers: []answer{redirect, failed, html}, requests: 4, status: 3},
	}
	var keys sync.Map // of all runs
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, &keys)
		})
	}
}

func (c conversation) check(t *testing.T, keys *sync.Map) {
	t.Helper()
	s := &service{t: t, answers: c.answers}
	token := rand.Text()
	server := httptest.NewServer(s)
	status, stdout, said := run(t, server.URL+"/", token)
	server.Close()
	if status != c.status || !strings.HasPrefix(stdout, c.prints) {
		t.Errorf("it ends with %d, %q and %q, want status %d and %q", status, stdout, said, c.status, c.prints)
	}
	if len(s.keys) != c.requests || strings.Count(said, "trying again in ") != c.requests-1 {
		t.Fatalf("it sends %d requests and says %q, want %d requests", len(s.keys), said, c.requests)
	}
	key := s.keys[0]
	if len(slices.Compact(s.keys)) != 1 || key == "" {
		t.Errorf("it sends the keys %q, want one key", s.keys)
	}
	if _, known := keys.LoadOrStore(key, true); known {
		t.Errorf("it sends the key %q of another run", key)
	}
	says := strings.Contains(said, "outcome unknown: an attempt with the Idempotency-Key "+key)
	if says != (c.status == 3) {
		t.Errorf("it says %q, want that the outcome is unknown: %t", said, c.status == 3)
	}
}

// The client sends nothing with a token that is none, or to a server which cannot show that it has the name
// in the URL.
func TestNothingIsSent(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it sends a request") })
	server, impostor := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(impostor.Close)
	for _, test := range []struct {
		name   string
		url    string
		token  string
		status int
		says   string
	}{
		{name: "a token of two lines", url: server.URL, token: "secret\nX-Header: value", status: 2, says: "TOKEN must be "},
		{name: "a token that is not ASCII", url: server.URL, token: "secret\u00e9", status: 2, says: "TOKEN must be "},
		{name: "an address without a scheme", url: "localhost:8080", token: "secret", status: 2, says: "URL must begin "},
		{name: "a certificate that nobody trusts", url: impostor.URL, token: "secret", status: 3, says: "outcome unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := run(t, test.url, test.token)
			if status != test.status || !strings.Contains(stderr, test.says) {
				t.Errorf("it ends with %d, %q and %q, want %d and %q", status, stdout, stderr, test.status, test.says)
			}
		})
	}
}

// run runs the client. It returns its exit status, and what it prints, which may not show the token.
func run(t *testing.T, url, token string) (status int, stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		processtest.SkipWithout(t, "python3")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := exec.CommandContext(ctx, "python3", "create.py", newPlant)
	client.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "URL="+url, "TOKEN="+token)
	var printed, said strings.Builder
	client.Stdout, client.Stderr = &printed, &said
	_ = client.Run() // the exit status says whether it failed
	if lines := strings.Fields(token); strings.Contains(printed.String()+said.String(), lines[0]) {
		t.Errorf("it prints the token: %q, %q", &printed, &said)
	}
	return client.ProcessState.ExitCode(), printed.String(), said.String()
}

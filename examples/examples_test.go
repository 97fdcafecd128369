package examples

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunAtOnce(m) }

// A client is an example.
type client struct {
	name    string // the program that runs it
	command []string
}

// A result is what a client prints, and its exit status.
type result struct {
	stdout, stderr string
	status         int
}

// create lets the client create a plant once.
func (c client) create(t *testing.T, address, token string, plant ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, c.command[0], slices.Concat(c.command[1:], plant)...)
	command.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "URL="+address, "TOKEN="+token)
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, _ := command.Output() // the exit status says whether it failed
	return result{stdout: string(stdout), stderr: stderr.String(), status: command.ProcessState.ExitCode()}
}

// Each client passes each test.
func TestExamples(t *testing.T) {
	service := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), processtest.InMemory()...)
	clients := []client{
		{name: "curl", command: []string{"./create.sh"}},
		{name: "python3", command: []string{"python3", "create.py"}},
		{name: "node", command: []string{"node", "create.mjs"}},
	}
	tests := []struct {
		name string
		run  func(*testing.T, client, *processtest.Server)
	}{
		{"after lost answers, the plant is created once", testLostAnswers},
		{"an unknown outcome stays unknown until an answer makes it certain", testUnknownOutcome},
		{"where nobody answers, it says so", testNoAnswer},
		{"another service's answer is no plant", testAnotherService},
		{"without a plant, it prints its usage", testUsage},
	}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.name); err != nil {
				processtest.Lacks(t, c.name)
			}
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(t, c, service)
				})
			}
		})
	}
}

var ids atomic.Int64

// newPlant returns a NewPlant with an id that no other test has.
func newPlant() string { return openapitest.NewPlant(openapitest.ID(ids.Add(1)), openapitest.Plant(0)) }

// A script answers each request of a client by the next of its answers. The last one repeats.
type script struct {
	answers  []http.HandlerFunc
	requests []request
}

type request struct {
	key string // its idempotency key
	at  time.Time
}

// start starts a server for the script, which stops at the end of the test.
func (s *script) start(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	next := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, request{key: r.Header.Get("Idempotency-Key"), at: time.Now()})
	next(w, r)
}

// refuse answers an Error, with Retry-After unless it is empty.
func refuse(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%d,"message":"A message."}`, code)
	}
}

// hangUp answers nothing.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// forwardTo returns what forwards a request to the service.
func forwardTo(t *testing.T, service *processtest.Server) http.HandlerFunc {
	t.Helper()
	target, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target).ServeHTTP
}

// The first answer is lost, after the plant was created. The second says that the outcome is unknown, and API Gateway
// throttles the third request. Run again, the client has another key, and learns that the plant exists.
func testLostAnswers(t *testing.T, c client, service *processtest.Server) {
	const retryAfter = 3 * time.Second // differs from what the clients wait by themselves
	forward := forwardTo(t, service)
	lose := func(w http.ResponseWriter, r *http.Request) {
		forward(httptest.NewRecorder(), r)
		hangUp(w, r)
	}
	unknown := refuse(5004, fmt.Sprint(retryAfter.Seconds()))
	throttle := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
	s := &script{answers: []http.HandlerFunc{lose, unknown, throttle, forward}}
	server := s.start(t)
	plant := newPlant()

	created := c.create(t, server.URL+"/", service.Token, plant)
	if created.stdout != openapitest.Plant(0)+"\n" || created.status != 0 {
		t.Errorf("it shows %+v, want the Plant and status 0", created)
	}
	exists := c.create(t, server.URL+"/", service.Token, plant)
	if !strings.HasPrefix(exists.stdout, `{"error":3001,`) || exists.status != 1 {
		t.Errorf("run again, it shows %+v, want the error 3001 and status 1", exists)
	}

	if len(s.requests) != 5 {
		t.Fatalf("it sent %+v, want four requests, and one when run again", s.requests)
	}
	key, again := s.requests[0].key, s.requests[4].key
	for _, request := range s.requests[:4] {
		if request.key == "" || request.key != key {
			t.Errorf("it sent the key %q, want the same in each request, such as %q", request.key, key)
		}
	}
	if again == key {
		t.Errorf("run again, it sent the key %q of the first run, want another", again)
	}
	if waited := s.requests[2].at.Sub(s.requests[1].at); waited < retryAfter {
		t.Errorf("it waited %v, want the %v of Retry-After", waited, retryAfter)
	}
}

func testUnknownOutcome(t *testing.T, c client, service *processtest.Server) {
	tests := []struct {
		name    string
		answers []http.HandlerFunc
		status  int
	}{
		{name: "no answer, then an expired token", answers: []http.HandlerFunc{hangUp, refuse(2003, "")}, status: 3},
		{name: "5004, then an expired token", answers: []http.HandlerFunc{refuse(5004, "0"), refuse(2003, "")}, status: 3},
		{name: "5004, then attempts that change nothing", answers: []http.HandlerFunc{refuse(5004, "0"), refuse(5002, "0")}, status: 3},
		{name: "5004, then another plant has the id", answers: []http.HandlerFunc{refuse(5004, "0"), refuse(3001, "")}, status: 1},
		{name: "attempts that change nothing, then an expired token", answers: []http.HandlerFunc{refuse(5002, "0"), refuse(2003, "")}, status: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &script{answers: test.answers}
			got := c.create(t, s.start(t).URL, service.Token, newPlant())
			if got.status != test.status || !strings.Contains(got.stdout, `"error":`) {
				t.Errorf("it shows %+v, want the last Error and status %d", got, test.status)
			}
			key := "outcome unknown: an attempt with the Idempotency-Key " + s.requests[0].key
			if says := strings.Contains(got.stderr, key); says != (test.status == 3) {
				t.Errorf("it says %q, want that the outcome is unknown: %t", got.stderr, test.status == 3)
			}
		})
	}
}

func testNoAnswer(t *testing.T, c client, service *processtest.Server) {
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	got := c.create(t, nobody.URL, service.Token, newPlant())
	if !strings.HasPrefix(got.stdout, "no answer") || got.status != 3 {
		t.Errorf("it shows %+v, want no answer and status 3", got)
	}
	if strings.Count(got.stderr, "trying again in ") != 3 {
		t.Errorf("it says %q, want three more attempts", got.stderr)
	}
}

// The client must not follow a redirect: that would show the token to another server. It waits for less than a minute,
// whatever Retry-After says.
func testAnotherService(t *testing.T, c client, service *processtest.Server) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it follows a redirect")
	}))
	defer elsewhere.Close()
	found := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }
	redirect := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT")
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}
	unavailable := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "\xff")
	}
	html := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }
	s := &script{answers: []http.HandlerFunc{found, redirect, unavailable, html}}
	got := c.create(t, s.start(t).URL, service.Token, newPlant())
	if got.status != 3 || strings.Contains(got.stdout, service.Token) {
		t.Errorf("it shows %+v, want status 3 and no token", got)
	}
	if len(s.requests) != 4 {
		t.Errorf("it sent %d requests, want 4", len(s.requests))
	}
}

func testUsage(t *testing.T, c client, service *processtest.Server) {
	got := c.create(t, service.URL, service.Token)
	if got.stdout != "" || got.status != 2 || !strings.HasPrefix(got.stderr, "usage: URL=") {
		t.Errorf("without a plant = %+v, want its usage and status 2", got)
	}
}

// create.sh does not give the token to curl as an argument, which every user of the machine can see.
func TestTokenIsNoArgument(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const curl = "#!/bin/sh\necho \"$@\" >\"${0%/*}/arguments\"\nprintf '400||'\n"
	if err := os.WriteFile(filepath.Join(folder, "curl"), []byte(curl), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "./create.sh", newPlant())
	command.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "URL=http://127.0.0.1:1", "TOKEN=secret"}
	_ = command.Run() // it fails: this curl prints an Error
	arguments, err := os.ReadFile(filepath.Join(folder, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(arguments), "secret") {
		t.Errorf("curl has the arguments %s, want no token in them", arguments)
	}
}

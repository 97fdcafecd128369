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

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunAtOnce(m) }

// A client is an example.
type client struct {
	name    string
	command []string // runs it
	page    *page    // opens it in a browser, if there is no command
}

// A result is what a client shows, and its exit status. For a page, the status is 0 if the plant is created, and else 1.
type result struct {
	stdout, stderr string
	status         int
}

// create lets the client create a plant once.
func (c client) create(t *testing.T, address, token string, plant ...string) result {
	t.Helper()
	if c.page != nil {
		return c.page.submit(t, address, token, plant[0]).result
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, c.command[0], slices.Concat(c.command[1:], plant)...)
	command.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "URL="+address, "TOKEN="+token)
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, _ := command.Output() // the exit status says whether it failed
	return result{stdout: string(stdout), stderr: stderr.String(), status: command.ProcessState.ExitCode()}
}

// TestExamples runs each client against a server whose answers get lost, against none and against another service.
func TestExamples(t *testing.T) {
	commands := []client{
		{name: "curl", command: []string{"./create.sh"}},
		{name: "go", command: []string{processtest.Build(t, "examples/go")}},
		{name: "python3", command: []string{"python3", "create.py"}},
		{name: "node", command: []string{"node", "create.mjs"}},
	}
	pages := httptest.NewServer(http.FileServer(http.Dir(".")))
	t.Cleanup(pages.Close)
	environment := append(processtest.InMemory(), "ALLOW_ORIGIN="+pages.URL)
	service := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), environment...)
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.name); err != nil {
				processtest.Lacks(t, c.name)
			}
			runAll(t, c, service)
			t.Run("without a plant, it prints its usage", func(t *testing.T) {
				t.Parallel()
				got := c.create(t, service.URL, service.Token)
				if got.stdout != "" || got.status != 2 || !strings.HasPrefix(got.stderr, "usage: URL=") {
					t.Errorf("without a plant = %+v, want its usage and status 2", got)
				}
			})
		})
	}
	t.Run("browser", func(t *testing.T) {
		t.Parallel()
		opened := openPage(t, pages.URL+"/browser.html")
		runAll(t, client{name: "browser", page: opened}, service)
		t.Run("a page of another origin creates nothing", func(t *testing.T) {
			t.Parallel()
			testOrigins(t, opened, service)
		})
	})
}

// runAll runs the tests of every client.
func runAll(t *testing.T, c client, service *processtest.Server) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, client, *processtest.Server)
	}{
		{"after lost answers, the plant is created once", testLostAnswers},
		{"where nobody answers, it says so", testNoAnswer},
		{"another service's answer is no plant", testAnotherService},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, c, service)
		})
	}
}

var ids atomic.Int64

// newPlant returns a NewPlant with an id that no other test has.
func newPlant() string { return fmt.Sprintf(`{"id":%d,"name":"Monstera","tag":"indoor"}`, ids.Add(1)) }

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

// ServeHTTP also answers preflight requests, as API Gateway does with CORS.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "authorization,content-type,idempotency-key")
	w.Header().Set("Access-Control-Expose-Headers", "retry-after")
	if r.Method == http.MethodOptions {
		return
	}
	next := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, request{key: r.Header.Get("Idempotency-Key"), at: time.Now()})
	next(w, r)
}

// forwardTo returns what forwards a request to the service.
func forwardTo(t *testing.T, service *processtest.Server) http.HandlerFunc {
	t.Helper()
	target, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("Access-Control-Allow-Origin") // the script has set it
		return nil
	}
	return forward.ServeHTTP
}

// The first answer is lost, after the plant was created. The second says that the outcome is unknown, and API Gateway
// throttles the third request. Run again, the client has another key, and learns that the plant exists.
func testLostAnswers(t *testing.T, c client, service *processtest.Server) {
	const retryAfter = 3 * time.Second // differs from what the clients wait by themselves
	forward := forwardTo(t, service)
	lose := func(_ http.ResponseWriter, r *http.Request) {
		forward(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	unknown := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprint(retryAfter.Seconds()))
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":5004,"message":"The outcome is unknown: the plant may have been created."}`)
	}
	throttle := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
	s := &script{answers: []http.HandlerFunc{lose, unknown, throttle, forward}}
	server := s.start(t)
	plant := newPlant()

	created := c.create(t, server.URL+"/", service.Token, plant)
	if created.stdout != `{"name":"Monstera","tag":"indoor"}`+"\n" || created.status != 0 {
		t.Errorf("it shows %+v, want the Plant and status 0", created)
	}
	exists := c.create(t, server.URL+"/", service.Token, plant)
	if exists.stdout != `{"error":3001,"message":"A plant with this id exists."}`+"\n" || exists.status != 1 {
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

func testNoAnswer(t *testing.T, c client, service *processtest.Server) {
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	got := c.create(t, nobody.URL, service.Token, newPlant())
	if !strings.HasPrefix(got.stdout, "no answer") || got.status != 1 {
		t.Errorf("it shows %+v, want no answer and status 1", got)
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
	if got.status != 1 || strings.Contains(got.stdout, service.Token) {
		t.Errorf("it shows %+v, want status 1 and no token", got)
	}
	if len(s.requests) != 4 {
		t.Errorf("it sent %d requests, want 4", len(s.requests))
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

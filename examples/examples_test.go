package examples

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// retryAfter differs from what the clients wait by themselves.
const retryAfter = 3 * time.Second

// TestExamples runs each client against a server whose answers get lost, against none and against another service.
// The clients wait for seconds, so all of them run at once.
func TestExamples(t *testing.T) {
	pages := httptest.NewServer(http.FileServer(http.Dir(".")))
	t.Cleanup(pages.Close)
	environment := append(processtest.InMemory(), "ALLOW_ORIGIN="+pages.URL)
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), environment...)
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	var runs sync.WaitGroup
	defer runs.Wait()
	commands := []string{
		"curl ./create.sh", "go " + processtest.Build(t, "examples/go"), "python3 python3 create.py", "node node create.mjs",
		"chromium " + browser + " " + pages.URL + "/browser.html",
	}
	for id, command := range commands {
		program, command, _ := strings.Cut(command, " ")
		if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") != "true" {
			t.Logf("left out: the example for %s, which is not installed", program)
			continue
		}
		c := client{
			command: strings.Fields(command),
			plant:   fmt.Sprintf(`{"id":%d,"name":"Monstera","tag":"indoor"}`, id),
			secret:  server.Token,
		}
		for name, test := range map[string]func(*testing.T){
			" after lost answers":   func(t *testing.T) { testLostAnswers(t, c, server.URL) },
			" and another service":  func(t *testing.T) { testAnotherService(t, c) },
			" where nobody answers": func(t *testing.T) { testNoAnswer(t, c, nobody.URL) },
			" without a plant":      func(t *testing.T) { testUsage(t, c, server.URL) },
		} {
			runs.Go(func() { t.Run(program+name, test) })
		}
		if program == "chromium" {
			runs.Go(func() { t.Run("chromium and origins", func(t *testing.T) { testOrigins(t, c, server.URL) }) })
		}
	}
}

// client is an example's command, with the plant and the token that it sends.
type client struct {
	command       []string
	plant, secret string
}

// run returns what the client prints, and its exit code.
func (c client) run(t *testing.T, address string, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	if c.command[0] == browser {
		stdout, stderr, _, code = c.browse(t, c.command[1], address, arguments...)
		return stdout, stderr, code
	}
	command := exec.CommandContext(t.Context(), c.command[0], append(slices.Clone(c.command[1:]), arguments...)...)
	var errors strings.Builder
	command.Stderr = &errors
	command.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	command.Env = append(command.Env, "URL="+address, "TOKEN="+c.secret)
	out, _ := command.Output() // the exit code tells
	return string(out), errors.String(), command.ProcessState.ExitCode()
}

// testNoAnswer checks that a client tries four times and then says that nobody answers.
func testNoAnswer(t *testing.T, c client, address string) {
	out, told, code := c.run(t, address, c.plant)
	if !strings.HasPrefix(out, "no answer") || code != 1 {
		t.Errorf("%v = %q, exit code %d, want no answer and 1", c.command, out, code)
	}
	if strings.Count(told, "trying again in ") != 3 {
		t.Errorf("%v says %q, want three more attempts", c.command, told)
	}
}

// testUsage checks that a client without a plant prints how to call it.
func testUsage(t *testing.T, c client, address string) {
	if c.command[0] == browser { // which does not submit an incomplete form
		return
	}
	out, told, code := c.run(t, address)
	if out != "" || code != 2 || !strings.HasPrefix(told, "usage: URL=") {
		t.Errorf("%v = %q, exit code %d, and says %q, want its usage and 2", c.command, out, code, told)
	}
}

// testLostAnswers lets a client create its plant through a proxy that loses the first answer, and answers the second
// request itself, that the outcome is unknown. Run again, the client learns that the plant exists.
func testLostAnswers(t *testing.T, c client, address string) {
	target, _ := url.Parse(address) // it is valid
	var keys []string               // the client sends one request after the other
	var told time.Time
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("Access-Control-Allow-Origin") // allowOrigins has set it
		return nil
	}
	proxy := httptest.NewServer(allowOrigins(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		switch len(keys) {
		case 1:
			answer := httptest.NewRecorder()
			forward.ServeHTTP(answer, r)
			if answer.Code != http.StatusOK {
				t.Errorf("the lost answer = %d %s, want 200", answer.Code, answer.Body)
			}
			panic(http.ErrAbortHandler) // closes the connection
		case 2:
			told = time.Now()
			w.Header().Set("Retry-After", fmt.Sprint(retryAfter.Seconds()))
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":5004,"message":"The outcome is unknown: the plant may have been created."}`)
		default:
			if waited := time.Since(told); waited < retryAfter {
				t.Errorf("%v comes again after %v, want %v, as it was told", c.command, waited, retryAfter)
			}
			forward.ServeHTTP(w, r)
		}
	}))
	created, _, createdCode := c.run(t, proxy.URL+"/", c.plant)
	exists, _, existsCode := c.run(t, proxy.URL+"/", c.plant)
	proxy.Close()
	if created != `{"name":"Monstera","tag":"indoor"}`+"\n" || createdCode != 0 {
		t.Errorf("%v = %q, exit code %d, want the Plant and 0", c.command, created, createdCode)
	}
	if exists != `{"error":3001,"message":"A plant with this id exists."}`+"\n" || existsCode != 1 {
		t.Errorf("%v again = %q, exit code %d, want error 3001 and 1", c.command, exists, existsCode)
	}
	if len(keys) != 4 {
		t.Fatalf("%v sent the keys %q, want three in a run, and one later", c.command, keys)
	}
	first, later := keys[0], keys[3]
	if first == "" || first == later || !slices.Equal(keys[:3], []string{first, first, first}) {
		t.Errorf("%v sent the keys %q, want one for the three requests of a run, and another later", c.command, keys)
	}
}

// testAnotherService answers with redirects and pages: the client must not take the plant for created, and must not
// send the token elsewhere.
func testAnotherService(t *testing.T, c client) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the client follows a redirect")
	}))
	defer elsewhere.Close()
	asked := 0
	server := httptest.NewServer(allowOrigins(func(w http.ResponseWriter, r *http.Request) {
		switch asked++; asked {
		case 1, 2:
			http.Redirect(w, r, elsewhere.URL, []int{http.StatusFound, http.StatusTemporaryRedirect}[asked-1])
		case 3:
			w.Header().Set("Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "\xff")
		default:
			_, _ = io.WriteString(w, "<html>")
		}
	}))
	out, _, code := c.run(t, server.URL, c.plant)
	server.Close()
	if code != 1 || asked != 4 || strings.Contains(out, c.secret) {
		t.Errorf("%v = %q, exit code %d after %d requests, want 1 after 4", c.command, out, code, asked)
	}
}

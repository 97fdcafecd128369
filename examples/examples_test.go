package examples

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// clients returns the command of each example, by the program that it needs.
func clients() map[string][]string {
	return map[string][]string{
		"curl":    {"./create.sh"},
		"go":      {"go", "run", "./go"},
		"python3": {"python3", "create.py"},
		"node":    {"node", "create.mjs"},
	}
}

// A client whose first answer is lost, and whose second says to come again,
// learns what became of its plant; another that comes later learns that it
// exists; and where nobody answers, a client gives up.
func TestExamples(t *testing.T) {
	server := processtest.Serve(t, processtest.Build(t, "plantstore"), processtest.InMemory()...)
	token := regexp.MustCompile(`pst_\w+`).FindString(server.Greeting)
	id := 0
	for name, command := range clients() {
		id++
		body := fmt.Sprintf(`{"id":%d,"name":"Monstera","tag":"%s"}`, id, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, name)
			lossy := newLossy(t, server.URL)
			var givesUp sync.WaitGroup
			givesUp.Go(func() {
				if got, code := run(t, append(slices.Clone(command), body), "PLANTSTORE_URL=http://"+unused(t), "PLANTSTORE_TOKEN="+token); !strings.HasPrefix(got, "no answer") || code != 1 {
					t.Errorf("%s where nobody answers = %q, exit code %d, want no answer, 1", name, got, code)
				}
			})
			for _, test := range []struct {
				name     string
				want     string
				code     int
				requests int // in all
			}{
				{"the first answer is lost", `{"name":"Monstera","tag":"` + name + `"}`, 0, 3},
				{"the plant exists", `{"error":3001,"message":"A plant with this id exists."}`, 1, 4},
			} {
				got, code := run(t, append(slices.Clone(command), body), "PLANTSTORE_URL="+lossy.url, "PLANTSTORE_TOKEN="+token)
				if got != test.want+"\n" || code != test.code || len(lossy.seen()) != test.requests {
					t.Errorf("%s: %s = %q, exit code %d after %d requests, want %s, %d after %d", test.name, name, got, code, len(lossy.seen()), test.want, test.code, test.requests)
				}
			}
			givesUp.Wait()
			if r := lossy.seen(); len(r) > 3 && (r[0].key == "" || r[0].key != r[1].key || r[1].key != r[2].key || r[2].key == r[3].key) {
				t.Errorf("%s sent the keys %+v, want one for the first three requests, which are of one plant, and another for the fourth", name, r)
			}
			if r := lossy.seen(); len(r) > 2 && r[2].at.Sub(r[1].at) < retryAfter {
				t.Errorf("%s came again after %v, want %v, as it was told", name, r[2].at.Sub(r[1].at), retryAfter)
			}
		})
	}
}

// A client that lacks its argument or a variable says how it is called, and
// sends nothing.
func TestUsage(t *testing.T) {
	tests := []struct {
		name        string
		arguments   []string
		environment []string
	}{
		{"no plant", nil, []string{"PLANTSTORE_URL=http://127.0.0.1:1", "PLANTSTORE_TOKEN=x"}},
		{"no address", []string{"{}"}, []string{"PLANTSTORE_URL=", "PLANTSTORE_TOKEN=x"}},
		{"no token", []string{"{}"}, []string{"PLANTSTORE_URL=http://127.0.0.1:1", "PLANTSTORE_TOKEN="}},
	}
	for name, command := range clients() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, name)
			for _, test := range tests {
				c := exec.CommandContext(t.Context(), command[0], append(slices.Clone(command[1:]), test.arguments...)...)
				c.Env = append(append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"), test.environment...)
				// go run tells the exit code too.
				if out, err := c.CombinedOutput(); err == nil || !regexp.MustCompile(`^.*usage: PLANTSTORE_URL=.*\n(exit status 2\n)?$`).Match(out) {
					t.Errorf("%s: %s = %q, %v, want its usage", test.name, name, out, err)
				}
			}
		})
	}
}

// A page or a redirect is no answer of the service: the plant is not taken for
// created, and the token goes nowhere else.
func TestAnswersOfAnother(t *testing.T) {
	for name, command := range clients() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, name)
			var asked, elsewhere atomic.Int32
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
			defer other.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch asked.Add(1) {
				case 1:
					http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
				case 2:
					http.Redirect(w, r, other.URL, http.StatusFound)
				case 3:
					w.Header().Set("Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT")
					w.WriteHeader(http.StatusServiceUnavailable)
					_, _ = io.WriteString(w, "\xff")
				default:
					_, _ = io.WriteString(w, "<html>")
				}
			}))
			defer server.Close()
			out, code := run(t, append(slices.Clone(command), `{"id":1,"name":"oak"}`), "PLANTSTORE_URL="+server.URL, "PLANTSTORE_TOKEN=pst_secret")
			if code != 1 || asked.Load() != 4 || elsewhere.Load() != 0 || strings.Contains(out, "pst_secret") {
				t.Errorf("%s = %q, exit code %d after %d requests, and %d elsewhere, want 1 after 4, and none", name, out, code, asked.Load(), elsewhere.Load())
			}
		})
	}
}

// need skips the test where a program is missing, and with CI=true fails it.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("this example needs %s", program)
	} else if err != nil {
		t.Skipf("skipped: this example needs %s", program)
	}
}

// unused returns an address where nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer listener.Close() //nolint:errcheck // nobody came
	return listener.Addr().String()
}

// run returns what a command printed on standard output, and its exit code.
func run(t *testing.T, command []string, environment ...string) (stdout string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Env = append(append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"), environment...)
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Error(err)
		return "", 0
	}
	return out.String(), c.ProcessState.ExitCode()
}

// retryAfter differs from what the clients wait by themselves.
const retryAfter = 3 * time.Second

// lossy is a proxy that loses its first answer, and answers the second request
// by itself, that the outcome is unknown.
type lossy struct {
	url      string
	mu       sync.Mutex
	requests []request
}

type request struct {
	key string
	at  time.Time
}

func newLossy(t *testing.T, target string) *lossy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l, forward := new(lossy), httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch l.saw(request{r.Header.Get("Idempotency-Key"), time.Now()}) {
		case 1:
			answer := httptest.NewRecorder()
			forward.ServeHTTP(answer, r)
			if answer.Code != http.StatusOK {
				t.Errorf("the lost answer = %d %s, want 200", answer.Code, answer.Body)
			}
			panic(http.ErrAbortHandler) // closes the connection
		case 2:
			w.Header().Set("Retry-After", fmt.Sprint(retryAfter.Seconds()))
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":5004,"message":"The outcome is unknown: the plant may have been created."}`)
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// saw keeps a request and returns how many came.
func (l *lossy) saw(r request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
	return len(l.requests)
}

func (l *lossy) seen() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests
}

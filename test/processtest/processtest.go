// Package processtest builds the commands of this module and runs them, and has
// what the tests of the service share: an environment, a token, a seed.
package processtest

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/internal/token"
)

// Lacks skips a test on a machine that lacks what it needs, or fails it with CI=true.
func Lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("skipped: this test needs " + what)
}

// Build builds the command in a folder of the module, such as cmd/createplant, with
// the tags of the deployed one, and returns the path of its binary.
func Build(t testing.TB, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc,nethttpomithttp2",
		"-o", binary, Module()+"/"+folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// Module returns the path of this module.
func Module() string {
	build, _ := debug.ReadBuildInfo() // every test has it
	return build.Main.Path
}

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
		"ALLOW_ORIGIN=",
	}
}

// IssueToken adds to store a token of subject that is valid for an hour from at.
func IssueToken(t testing.TB, store token.Store, subject string, at time.Time) (secret string, issued token.Token) {
	t.Helper()
	secret, issued, err := token.Issue(rand.Reader, subject, at, time.Hour)
	if err := cmp.Or(err, store.Add(t.Context(), issued)); err != nil {
		t.Fatal(err)
	}
	return secret, issued
}

// Server is a running `plantstore serve`.
type Server struct {
	URL      string
	Token    string       // valid there, empty if the stores are not in memory
	Greeting string       // what it prints at its start
	Stop     func() error // stops it and returns how it ended, each time
}

// Serve starts `plantstore serve` on a free port, with these variables besides the
// environment of the test. It stops at the end of the test, cleanly or the test
// fails. A test that fails prints the errors that the server logged.
func Serve(t testing.TB, binary string, environment ...string) *Server {
	t.Helper()
	return ServeOn(t, binary, "127.0.0.1:0", environment...)
}

// ServeOn is Serve on another address.
func ServeOn(t testing.TB, binary, address string, environment ...string) *Server {
	t.Helper()
	command := exec.Command(binary, "serve", "--addr", address)
	command.Env = append(os.Environ(), environment...)
	var log bytes.Buffer
	command.Stderr = &log
	stdout, err := command.StdoutPipe()
	if err := cmp.Or(err, command.Start()); err != nil {
		t.Fatal(err)
	}
	s := &Server{Stop: sync.OnceValue(func() error {
		_ = command.Process.Signal(syscall.SIGTERM) // if it has ended, Wait returns why
		return command.Wait()
	})}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("plantstore serve ended with %v, want nil", err)
		}
		if t.Failed() {
			errors := regexp.MustCompile(`(?m)^.*"level":"INFO".*\n`).ReplaceAll(log.Bytes(), nil)
			t.Logf("errors that plantstore serve logged: %s", errors)
		}
	})
	last := regexp.MustCompile("curl|token issue") // what the last line has
	for lines := bufio.NewScanner(stdout); !last.MatchString(s.Greeting); s.Greeting += lines.Text() + "\n" {
		if !lines.Scan() {
			t.Fatalf("plantstore serve printed %q and ended", s.Greeting)
		}
	}
	if match := regexp.MustCompile(`(?m)^Token: (\S+)$`).FindStringSubmatch(s.Greeting); match != nil {
		s.Token = match[1]
	}
	s.URL = regexp.MustCompile(`http://[\d.:\[\]]+`).FindString(s.Greeting)
	return s
}

// Soak reports whether the test runs in `make soak`.
func Soak() bool { return os.Getenv("SOAK") != "" }

// Scale returns how often a test repeats what it does: full in `make soak`, or
// else short.
func Scale(short, full int) int {
	if Soak() {
		return full
	}
	return short
}

// Seed returns a seed for a test's random numbers: the value of SEED, or a new
// one. A test that fails prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	value := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		if _, err := fmt.Sscan(text, &value); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with SEED=%d", value)
		}
	})
	return value
}

// Package processtest builds the commands of this module and runs them, for
// tests that must see real processes.
package processtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Build builds a command, as createplant, with the code that is deployed, and
// returns the path of its binary.
func Build(t testing.TB, command string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), command)
	arguments := append([]string{"build", "-tags", "lambda.norpc,nethttpomithttp2", "-o", binary}, flags...)
	build := exec.CommandContext(t.Context(), "go", append(arguments, "plantstore/cmd/"+command)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// Server is a running `plantstore serve`.
type Server struct {
	URL      string
	Greeting string // what it printed at its start
	command  *exec.Cmd
	stop     func() error
}

// InMemory returns the variables with which a server has its stores in memory,
// whatever the environment of the test names.
func InMemory() []string {
	return []string{"AWS_ENDPOINT_URL_DYNAMODB=", "AWS_ENDPOINT_URL=", "PLANTS_TABLE=", "TOKENS_TABLE="}
}

// Serve starts `plantstore serve` on a free port, with these variables besides
// the environment of the test. It stops at the end of the test, cleanly or the
// test fails.
func Serve(t testing.TB, binary string, environment ...string) *Server {
	t.Helper()
	return ServeOn(t, binary, "127.0.0.1:0", environment...)
}

// ServeOn is Serve on another address.
func ServeOn(t testing.TB, binary, address string, environment ...string) *Server {
	t.Helper()
	command := exec.Command(binary, "serve", "--addr", address) //nolint:noctx // it stops by a signal
	command.Env = append(os.Environ(), environment...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Server{command: command}
	s.stop = sync.OnceValue(func() error {
		_ = command.Process.Signal(syscall.SIGTERM) // where it has ended, Wait tells
		return command.Wait()
	})
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("plantstore serve ended with %v, want nil", err)
		}
	})
	s.Greeting = readGreeting(t, stdout)
	s.URL = regexp.MustCompile(`http://[\d.:\[\]]+`).FindString(s.Greeting)
	return s
}

// Stop tells the server to stop and returns how it ended. It may be called again.
func (s *Server) Stop() error { return s.stop() }

// readGreeting reads up to the line that ends what `serve` prints at its start.
func readGreeting(t testing.TB, stdout io.Reader) string {
	t.Helper()
	greeting := ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		greeting += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "curl") || strings.Contains(lines.Text(), "token issue") {
			return greeting
		}
	}
	t.Fatalf("plantstore serve printed %q and ended", greeting)
	return ""
}

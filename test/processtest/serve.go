package processtest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Server is a running `plantstore serve`.
type Server struct {
	URL      string
	Token    string       // valid there, empty if the stores are not in memory
	Greeting string       // what it prints at its start
	Stop     func() error // stops it and returns how it ended, each time
}

// Serve starts `plantstore serve` on a free port, with these variables besides the environment of the
// test. It stops at the end of the test, cleanly or the test fails. A test that fails prints the errors
// that the server logged.
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
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Server{Stop: sync.OnceValue(func() error {
		_ = command.Process.Signal(syscall.SIGTERM) // if it has ended, Wait returns why
		return command.Wait()
	})}
	t.Cleanup(func() {
		err := s.Stop()
		if err != nil {
			t.Errorf("plantstore serve ended with %v, want nil", err)
		}
		if errors := withoutInfo(log.String()); t.Failed() && errors != "" {
			t.Logf("errors that plantstore serve logged: %s", errors)
		}
	})
	s.read(t, bufio.NewScanner(stdout))
	return s
}

// read reads the greeting, to the line that says how to create a plant, or how to issue a token.
func (s *Server) read(t testing.TB, lines *bufio.Scanner) {
	t.Helper()
	for lines.Scan() {
		line := lines.Text()
		s.Greeting += line + "\n"
		if _, after, found := strings.Cut(line, " runs at "); found {
			s.URL, _, _ = strings.Cut(after, ", ")
		}
		if secret, found := strings.CutPrefix(line, "Token: "); found {
			s.Token = secret
		}
		if strings.Contains(line, "curl") || strings.Contains(line, "token issue") {
			return
		}
	}
	t.Fatalf("plantstore serve printed %q and ended", s.Greeting)
}

// withoutInfo returns the lines of a log that are more than information.
func withoutInfo(log string) string {
	var rest strings.Builder
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `"level":"INFO"`) {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

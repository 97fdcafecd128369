package processtest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
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
	Token    string // valid there, empty if the stores are not in memory
	Greeting string // what it prints at its start
	Stop     func() // tells it to end
}

// Serve starts `plantstore serve` on a free port, with these variables alone, whatever the environment of
// the test is. Without any, its stores are in memory. At the end of the test it stops; an unclean exit fails
// the test. A test that fails prints what the server logged.
func Serve(t testing.TB, environment ...string) *Server {
	t.Helper()
	command := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0")
	command.Env = append([]string{AsCommand, "GORACE=" + os.Getenv("GORACE")}, environment...)
	var log bytes.Buffer
	command.Stderr = &log
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() { _ = command.Process.Signal(syscall.SIGTERM) }) // if it has ended, Wait returns why
	s := &Server{Stop: stop}
	t.Cleanup(func() {
		stop()
		if err := command.Wait(); err != nil {
			t.Errorf("plantstore serve ended with %v, want nil", err)
		}
		if t.Failed() {
			t.Logf("plantstore serve logged: %s", &log)
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

// Send sends a request without a body, and returns the header and the body of the answer.
func Send(t testing.TB, method, url string, header http.Header) (http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header, string(body)
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/memory"
)

// startServer starts `plantstore serve` on a free port, and stops it at the end of the test. It returns what it prints.
func startServer(t *testing.T) (greeting string) {
	t.Helper()
	command := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0")
	command.Env = newTool(t).environment
	command.Stderr = t.Output()
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // if it has exited, Wait returns why
		if err := command.Wait(); err != nil {
			t.Errorf("plantstore serve = %v, want nil", err)
		}
	})
	for lines := bufio.NewScanner(stdout); !strings.Contains(greeting, "curl") && lines.Scan(); {
		greeting += lines.Text() + "\n"
	}
	return greeting
}

// README.md shows the command that serve prints, and what that prints when it is run, run again, and run with another
// key. The command sends the token to no proxy.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	command := regexp.MustCompile("curl .*").FindString(startServer(t))
	shown := regexp.MustCompile(`127.0.0.1:\d+`).ReplaceAllString(command, "127.0.0.1:8080")
	shown = regexp.MustCompile(`pst_\w+`).ReplaceAllString(shown, "<ACCESS_TOKEN>")
	if !strings.Contains(readme, "\n"+shown+"\n") {
		t.Errorf("serve prints %q, which README.md lacks", shown)
	}
	another := strings.Replace(command, "Idempotency-Key: first", "Idempotency-Key: second", 1)
	for _, typed := range []string{command, command, another} {
		curl := exec.CommandContext(t.Context(), "sh", "-c", typed)
		curl.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "no_proxy=")
		printed, err := curl.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := "```json\n" + string(printed) + "```"; !strings.Contains(readme, want) {
			t.Errorf("%s prints %s, and README.md lacks %q", typed, printed, want)
		}
	}
}

// A request that has begun is answered, even if the server is stopping.
func TestServeStops(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stop()
		for { // until the server does not listen any more
			connection, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				break
			}
			_ = connection.Close() // nothing was sent
		}
		_, _ = io.WriteString(w, "answered") // the test finds what it lacks
	})
	stopped := make(chan error)
	go func() { stopped <- serve(ctx, listener, &http.Server{Handler: handler}) }()
	response, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	if body, err := io.ReadAll(response.Body); string(body) != "answered" || err != nil {
		t.Errorf("the server answers %q, %v, want answered", body, err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("serve = %v, want nil", err)
	}
}

// The server shows the contract. A client that sends too much, or too slowly, is refused, and its connection is closed.
func TestServer(t *testing.T) {
	const (
		request = "POST /plants HTTP/1.1\r\nHost: localhost\r\n"
		end     = "Content-Length: 0\r\n\r\n"
	)
	headers := func(size int) string {
		return request + "X: " + strings.Repeat("x", size-len(request)-len("X: \r\n")-len(end)) + "\r\n" + end
	}
	for _, test := range []struct {
		name, sent string
		want       string        // part of the answer
		after      time.Duration // until the connection is closed
	}{
		{name: "the page of the contract", sent: "GET /docs/ HTTP/1.0\r\n\r\n", want: "HTTP/1.0 200 OK"},
		{name: "the contract", sent: "GET /openapi.yaml HTTP/1.0\r\n\r\n", want: "title: Plant Store"},
		{name: "the largest headers, then silence", sent: headers(10240), want: `{"error":2001,`, after: time.Minute},
		{name: "larger headers", sent: headers(10241), want: "HTTP/1.1 431 "},
		{
			name: "a body without an end", sent: request + "Content-Length: 2\r\n\r\n[",
			want: "HTTP/1.1 400 ", after: 10 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := httptest.NewTestServer(t, nil) // its network is in memory
				server.Config = newServer(new(memory.Tokens), slog.New(slog.DiscardHandler))
				transport, _ := server.Client().Transport.(*http.Transport)
				connection, err := transport.DialContext(t.Context(), "tcp", "localhost:80")
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				fmt.Fprint(connection, test.sent)
				got, _ := io.ReadAll(connection)
				after := time.Since(start).Truncate(time.Second)
				if !strings.Contains(string(got), test.want) || after != test.after {
					t.Errorf("the server answers %q and closes after %v, want %q after %v", got, after, test.want, test.after)
				}
			})
		})
	}
}

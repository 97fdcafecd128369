package main

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/memory"
)

// startServer runs `plantstore serve` on a free port until the test ends. It returns what the command prints, and the file
// that has its log.
func startServer(t *testing.T) (greeting, logFile string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() }) // the command has its own copy
	command := exec.Command("plantstore", "serve", "--addr", "127.0.0.1:0")
	command.Stderr = log
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // if it has exited, the test has failed
		_ = command.Wait()         // its error is the signal
	})
	for lines := bufio.NewScanner(stdout); !strings.Contains(greeting, "curl") && lines.Scan(); {
		greeting += lines.Text() + "\n"
	}
	return greeting, log.Name()
}

// README.md shows the curl command that serve prints, and the answers: to it, to the same with another key, and without a
// token. The command uses no proxy. The log has the same keys as a function's.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	greeting, logFile := startServer(t)
	command := regexp.MustCompile("curl .*").FindString(greeting)
	shown := regexp.MustCompile(`127.0.0.1:\d+`).ReplaceAllString(command, "127.0.0.1:8080")
	shown = regexp.MustCompile(`pst_\w+`).ReplaceAllString(shown, "<ACCESS_TOKEN>")
	if !strings.Contains(readme, "\n"+shown+"\n") {
		t.Errorf("serve prints %q, which README.md lacks", shown)
	}
	another := strings.Replace(command, "Idempotency-Key: first", "Idempotency-Key: second", 1)
	without := regexp.MustCompile(` -H '[^']*'`).ReplaceAllString(command, "")
	for _, typed := range []string{command, command, another, without} {
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
	log, err := os.ReadFile(logFile)
	const line = `(?m)^{"timestamp":"2[^"]+","level":"INFO","message":"create plant","apigw_request_id":"\w+","code":3001,`
	if err != nil || !regexp.MustCompile(line).Match(log) {
		t.Errorf("serve logs %s, %v, want %s", log, err, line)
	}
}

func TestURL(t *testing.T) {
	for _, test := range []struct{ ip, want string }{
		{"0.0.0.0", "http://127.0.0.1:8082"},
		{"::", "http://127.0.0.1:8082"},
		{"192.0.2.1", "http://192.0.2.1:8082"},
		{"::1", "http://[::1]:8082"},
	} {
		if got := urlOf(net.TCPAddr{IP: net.ParseIP(test.ip), Port: 8082}); got != test.want {
			t.Errorf("urlOf(%s) = %s, want %s", test.ip, got, test.want)
		}
	}
}

// The local server limits headers as an HTTP API does, and gives up on a slow client. It does not serve OPTIONS *.
func TestServerLimits(t *testing.T) {
	const start = "POST /plants HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	padding := func(size int) string { return "X: " + strings.Repeat("x", size-len("X: \r\n")) + "\r\n" }
	for _, test := range []struct {
		name, request string
		want          string // the beginning of the answer; without one, the server only closes the connection
		wantAfter     time.Duration
	}{
		{name: "the largest headers", request: start + padding(10240-len(start+"\r\n")) + "\r\n", want: "HTTP/1.1 400 "},
		{name: "larger headers", request: start + padding(10241-len(start+"\r\n")) + "\r\n", want: "HTTP/1.1 431 "},
		{name: "OPTIONS *", request: "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", want: "HTTP/1.1 400 "},
		{name: "slow headers", request: start, wantAfter: 5 * time.Second},
		{
			name: "a slow body", request: start + "Content-Length: 2\r\n\r\n{",
			want: "HTTP/1.1 400 ", wantAfter: 10 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := httptest.NewTestServer(t, nil)
				server.Config = newServer(memory.Tokens{}, slog.New(slog.DiscardHandler))
				dial := server.Client().Transport.(*http.Transport).DialContext
				connection, err := dial(t.Context(), "tcp", "localhost:80")
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				_, _ = io.WriteString(connection, test.request) // the server may close the connection
				answer, _ := io.ReadAll(connection)
				took := time.Since(begin)
				if !strings.HasPrefix(string(answer), test.want) || test.want == "" && len(answer) > 0 || took != test.wantAfter {
					t.Errorf("the server answers %.80q after %v, want %q after %v", answer, took, test.want, test.wantAfter)
				}
			})
		})
	}
}

func TestDocs(t *testing.T) {
	server := newServer(memory.Tokens{}, slog.New(slog.DiscardHandler))
	for _, test := range []struct {
		method, path string
		status       int
		contentType  string
		want         string // in the body
	}{
		{http.MethodGet, "/", http.StatusFound, "text/html; charset=utf-8", `href="/docs/"`},
		{http.MethodGet, "/docs", http.StatusFound, "text/html; charset=utf-8", `href="/docs/"`},
		{http.MethodGet, "/docs/", http.StatusOK, "text/html", "/openapi.yaml"},
		{http.MethodGet, "/docs/", http.StatusOK, "text/html", `docExpansion: "full"`},
		{http.MethodGet, "/docs/", http.StatusOK, "text/html", "tryItOutEnabled: true"},
		{http.MethodGet, "/openapi.yaml", http.StatusOK, "application/yaml", "title: Plant Store"},
		{http.MethodPost, "/", http.StatusNotFound, "application/json", "Not Found"},
		{http.MethodGet, "/docsx", http.StatusNotFound, "application/json", "Not Found"},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			server.Handler.ServeHTTP(w, httptest.NewRequest(test.method, test.path, nil))
			contentType := w.Header().Get("Content-Type")
			if w.Code != test.status || contentType != test.contentType || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("%d %s %.200s, want %d %s %s", w.Code, contentType, w.Body, test.status, test.contentType, test.want)
			}
		})
	}
}

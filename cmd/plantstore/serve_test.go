package main

import (
	"bufio"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/memory"
)

// startServer runs `plantstore serve` on a free port until the test ends. It returns what the command prints.
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
		_ = command.Process.Kill() // if it has exited, the test has failed
		_ = command.Wait()         // its error is the signal
	})
	for lines := bufio.NewScanner(stdout); !strings.Contains(greeting, "curl") && lines.Scan(); {
		greeting += lines.Text() + "\n"
	}
	return greeting
}

// README.md shows the curl command that serve prints, and the answers: to it, to the same with another key, and without a
// token. The command uses no proxy.
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

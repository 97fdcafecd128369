package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/gateway"
	"plantstore/internal/memory"
)

// A client that sends too much, or too slowly, is refused, and its connection is closed.
func TestLimits(t *testing.T) {
	const (
		request = "POST /plants HTTP/1.1\r\nHost: localhost\r\n"
		end     = "Content-Length: 0\r\n\r\n"
	)
	headers := func(size int) string {
		const name = "X: "
		filling := size - len(request) - len(name) - len("\r\n") - len(end)
		return request + name + strings.Repeat("x", filling) + "\r\n" + end
	}
	tests := []struct {
		name, sent string
		want       string        // part of the answer
		after      time.Duration // until the connection is closed
	}{
		{name: "headers without an end", sent: request, after: 5 * time.Second},
		{name: "a body without an end", sent: request + "Content-Length: 2\r\n\r\n[", want: "HTTP/1.1 400 ", after: 10 * time.Second},
		{name: "a malformed chunk", sent: request + "Transfer-Encoding: chunked\r\n\r\nx\r\n", want: "HTTP/1.1 400 "},
		{name: "the largest headers, then silence", sent: headers(gateway.MaxHeaderSize), want: `{"error":2001,`, after: time.Minute},
		{name: "larger headers", sent: headers(gateway.MaxHeaderSize + 1), want: "HTTP/1.1 431 "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := httptest.NewTestServer(t, nil)
				log := slog.New(slog.DiscardHandler)
				server.Config = newServer(newHandler(new(memory.Plants), new(memory.Tokens), log), log)
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

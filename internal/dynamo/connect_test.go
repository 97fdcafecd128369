package dynamo

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Connect sends a GET without credentials. Its connection is that of the first operation, unless that comes late:
// an idle connection is closed before the other side closes it, after 90 s.
func TestConnect(t *testing.T) {
	tests := []struct {
		name        string
		pause       time.Duration
		connections int
	}{
		{name: "an operation at once", connections: 1},
		{name: "an operation after a pause", pause: 20 * time.Second, connections: 1},
		{name: "an operation after a long pause", pause: time.Minute, connections: 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				long := strings.Repeat(" ", 1<<20) // more than net/http reads when an answer is closed
				fake := newFake(t, refuseWith(long), succeed)
				client := fake.client()
				Connect(client)
				time.Sleep(test.pause)
				_, _ = (&Tokens{Client: client, Table: "tokens"}).Find(t.Context(), "id") // there is no such token
				requests := fake.received()
				if len(requests) != 2 {
					t.Fatalf("Connect and Find sent %d requests, want 2", len(requests))
				}
				got := requests[0]
				if got.Method != http.MethodGet || got.URL.Path != "/" {
					t.Errorf("Connect sent %s %s, want GET /", got.Method, got.URL)
				}
				if got.Header.Get("Authorization") != "" || got.body != "" {
					t.Errorf("Connect sent %v and %q, want neither credentials nor a body", got.Header, got.body)
				}
				if fake.connections != test.connections {
					t.Errorf("Connect and Find opened %d connections, want %d", fake.connections, test.connections)
				}
			})
		})
	}
}

// A start does not fail for want of a connection, nor wait long for one.
func TestConnectInVain(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     time.Duration
	}{
		{name: "no server", attempts: do(noServer), want: 0},
		{name: "no answer", attempts: do(stall), want: AttemptTimeout},
		{name: "an answer that does not end", attempts: do(begin(200, stall)), want: AttemptTimeout},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				Connect(newFake(t, test.attempts...).client())
				if took := time.Since(start); took != test.want {
					t.Errorf("Connect took %v, want %v", took, test.want)
				}
			})
		})
	}
}

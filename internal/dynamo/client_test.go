package dynamo

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/budget"
)

// DynamoDB's own variable wins over the one for every service. An empty one counts as none.
func TestEndpointFrom(t *testing.T) {
	const own, general = "http://127.0.0.1:8000", "https://general:1"
	tests := []struct {
		name        string
		environment map[string]string
		want        string
	}{
		{"AWS's own", nil, ""},
		{"both", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": own, "AWS_ENDPOINT_URL": general}, own},
		{"one for every service", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": general}, general},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := EndpointFrom(func(name string) string { return test.environment[name] })
			if err != nil || got != test.want {
				t.Errorf("EndpointFrom(%v) = %q, %v, want %q", test.environment, got, err, test.want)
			}
		})
	}
}

// The error names the variable.
func TestEndpointFromErrors(t *testing.T) {
	tests := []struct{ name, variable, value string }{
		{"no scheme", "AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000"},
		{"another scheme", "AWS_ENDPOINT_URL_DYNAMODB", "ftp://host"},
		{"no host", "AWS_ENDPOINT_URL_DYNAMODB", "http://"},
		{"no URL, for every service", "AWS_ENDPOINT_URL", "://"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			environment := map[string]string{test.variable: test.value}
			_, err := EndpointFrom(func(name string) string { return environment[name] })
			if err == nil || !strings.HasPrefix(err.Error(), "environment variable "+test.variable+" is not") {
				t.Errorf("EndpointFrom(%v) = %v, want an error that names the variable", environment, err)
			}
		})
	}
}

// Connect sends a GET without credentials. Its connection is that of the first operation, unless that
// comes late: an idle connection is closed before the other side closes it, after 90 s.
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
		{name: "no answer", attempts: do(stall), want: budget.Attempt},
		{name: "an answer that does not end", attempts: do(begin(200, stall)), want: budget.Attempt},
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

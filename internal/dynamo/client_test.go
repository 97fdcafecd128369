package dynamo

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// DynamoDB's own variable wins over the one for every service. An empty one counts as none, and a
// malformed one is named in the error.
func TestChooseEndpoint(t *testing.T) {
	const own, general = "http://127.0.0.1:8000", "https://general:1"
	tests := []struct {
		name         string
		own, general string // the variables
		want         string
		malformed    string // the variable in the error
	}{
		{name: "AWS's own DynamoDB"},
		{name: "both variables", own: own, general: general, want: own},
		{name: "one for every service", general: general, want: general},
		{name: "another scheme", own: "ftp://host", malformed: "AWS_ENDPOINT_URL_DYNAMODB"},
		{name: "no host", own: "http://", malformed: "AWS_ENDPOINT_URL_DYNAMODB"},
		{name: "no URL, for every service", general: "://", malformed: "AWS_ENDPOINT_URL"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ChooseEndpoint(test.own, test.general)
			if test.malformed == "" {
				if err != nil || got != test.want {
					t.Errorf("ChooseEndpoint(%q, %q) = %q, %v, want %q", test.own, test.general, got, err, test.want)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "environment variable "+test.malformed+" is not") {
				t.Errorf("ChooseEndpoint(%q, %q) = %v, want an error that names the variable", test.own, test.general, err)
			}
		})
	}
}

// Connect sends a GET without credentials. The first call uses its connection, unless the connection has been idle
// for more than 30 s.
func TestConnect(t *testing.T) {
	tests := []struct {
		name        string
		pause       time.Duration
		connections int64
	}{
		{name: "a call after a pause", pause: 20 * time.Second, connections: 1},
		{name: "a call after a long pause", pause: time.Minute, connections: 2},
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
				requests := fake.requests
				if len(requests) != 2 {
					t.Fatalf("Connect and Find sent %d requests, want 2", len(requests))
				}
				got := requests[0]
				if got.Method != http.MethodGet || got.URL.String() != "http://fake" {
					t.Errorf("Connect sent %s %s, want GET http://fake", got.Method, got.URL)
				}
				if got.Header.Get("Authorization") != "" || got.body != "" {
					t.Errorf("Connect sent %v and %q, want neither credentials nor a body", got.Header, got.body)
				}
				if got := fake.connections.Load(); got != test.connections {
					t.Errorf("Connect and Find opened %d connections, want %d", got, test.connections)
				}
			})
		})
	}
}

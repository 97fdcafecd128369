package dynamo

import (
	"net/http"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// The connection that Connect opens is the one of the first operation, and Connect sends nothing but a
// GET without credentials.
func TestConnect(t *testing.T) {
	long := strings.Repeat(" ", 1<<20) // more than net/http reads when an answer is closed
	fake := newFake(t, refuseWith(errorBody("AccessDeniedException")+long))
	client := newClient(configuration("us-east-1", fake.URL), bounded(awshttp.NewBuildableClient(), time.Minute))
	Connect(client)
	_, err := (&Tokens{Client: client, Table: "tokens"}).Find(t.Context(), "id")
	requests := fake.received()
	if len(requests) != 2 {
		t.Fatalf("Connect and Find (%v) sent %d requests, want two", err, len(requests))
	}
	if requests[0].RemoteAddr != requests[1].RemoteAddr {
		t.Errorf("Connect and Find used the connections %s and %s, want one", requests[0].RemoteAddr, requests[1].RemoteAddr)
	}
	r := requests[0]
	if r.Method != http.MethodGet || r.URL.Path != "/" || r.Header.Get("Authorization") != "" || r.body != "" {
		t.Errorf("Connect sent %s %s with %v and %q, want GET / without credentials", r.Method, r.URL, r.Header, r.body)
	}
}

// A start does not fail for want of a connection, nor wait long for one.
func TestConnectInVain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
	}{
		{"no server", nil},
		{"no answer", do(stall)},
		{"an answer that does not end", do(begin(200, stall))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			Connect(newFake(t, test.attempts...).client())
			if took := time.Since(start); took > 2*AttemptTimeout {
				t.Errorf("Connect took %v, want %v at most", took, AttemptTimeout)
			}
		})
	}
}

// An idle connection outlives a pause between two requests, and ends before the other side closes it after 90 s.
func TestIdleConnection(t *testing.T) {
	client, ok := functionClient("us-east-1", "").Options().HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		t.Fatal("the client is not the SDK's own")
	}
	got := client.GetTransport().IdleConnTimeout
	if got < 10*time.Second || got > time.Minute {
		t.Errorf("an idle connection is closed after %v, want 10 s to 1 min", got)
	}
}

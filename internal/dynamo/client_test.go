package dynamo

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// An attempt by a function times out after 700 ms.
func TestNewClient(t *testing.T) {
	if got := NewClient(aws.Config{}).api.Options().HTTPClient.(*http.Client).Timeout; got != attemptTimeout {
		t.Errorf("the timeout is %v, want %v", got, attemptTimeout)
	}
}

// Connect sends a GET without credentials. The next call reuses the connection, unless it has been idle for 30 s.
func TestConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		server := httptest.NewTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, port, _ := net.SplitHostPort(r.RemoteAddr) // identifies the connection
			got = append(got, fmt.Sprintf("%s %s signed: %t", port, r.Method, r.Header.Get("Authorization") != ""))
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20)) // more than net/http reads when a body is closed
				return
			}
			_, _ = io.WriteString(w, "{}")
		}))
		transport := newHTTPClient().Transport.(*http.Transport)
		transport.DialContext = server.Client().Transport.(*http.Transport).DialContext
		client := newClient(transport)
		client.Connect()
		for _, pause := range []time.Duration{29 * time.Second, 31 * time.Second} {
			time.Sleep(pause)
			_ = (&Tokens{Client: client, Table: "tokens"}).Add(t.Context(), issued)
		}
		want := []string{"10001 GET signed: false", "10001 POST signed: true", "10002 POST signed: true"}
		if !slices.Equal(got, want) {
			t.Errorf("the requests are %q, want %q", got, want)
		}
	})
}

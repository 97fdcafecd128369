package dynamo

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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

// A certificate that only the system's roots signed is accepted, after one warning. No other certificate
// is.
func TestRoots(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(succeed)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS() // its certificate is for 127.0.0.1, not for localhost
	t.Cleanup(server.Close)
	signer, other := x509.NewCertPool(), x509.NewCertPool()
	signer.AddCert(server.Certificate())
	elsewhere := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	tests := []struct {
		name           string
		amazon, system *x509.CertPool
		url            string
		accepted       bool
		warnings       int
	}{
		{name: "Amazon's roots signed it", amazon: signer, system: other, url: server.URL, accepted: true},
		{name: "only the system's roots signed it", amazon: other, system: signer, url: server.URL, accepted: true, warnings: 1},
		{name: "no root signed it", amazon: other, system: other, url: server.URL, warnings: 1},
		{name: "it is for another name", amazon: signer, system: signer, url: elsewhere},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var warnings bytes.Buffer
			dial := dialTLS(test.amazon, test.system, slog.New(slog.NewJSONHandler(&warnings, nil)))
			for range 2 {
				client := &http.Client{Transport: &http.Transport{DialTLSContext: dial}}
				answer, err := client.Get(test.url)
				if (err == nil) != test.accepted {
					t.Errorf("Get = %v, want the certificate accepted: %t", err, test.accepted)
				}
				if err == nil {
					_ = answer.Body.Close()
				}
			}
			if got := strings.Count(warnings.String(), `"level":"WARN"`); got != test.warnings {
				t.Errorf("%d warnings, want %d: %s", got, test.warnings, &warnings)
			}
		})
	}
}

// The embedded roots are the five of Amazon Trust Services, known by the SHA-256 that it publishes.
func TestAmazonRoots(t *testing.T) {
	want := []string{
		"8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e", // Amazon Root CA 1
		"1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4", // Amazon Root CA 2
		"18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4", // Amazon Root CA 3
		"e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092", // Amazon Root CA 4
		"568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5", // Starfield Services Root CA - G2
	}
	var got []string
	for block, rest := pem.Decode(amazonRoots); block != nil; block, rest = pem.Decode(rest) {
		sum := sha256.Sum256(block.Bytes)
		got = append(got, hex.EncodeToString(sum[:]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the embedded roots = %q, want %q", got, want)
	}
}

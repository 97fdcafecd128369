package dynamo

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
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

// Connect sends a GET without credentials. A call uses its connection, unless that has been idle for 30 s.
func TestConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		server := httptest.NewTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, port, _ := net.SplitHostPort(r.RemoteAddr) // of the connection
			got = append(got, fmt.Sprintf("%s %s signed: %t", port, r.Method, r.Header.Get("Authorization") != ""))
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20)) // more than net/http reads when an answer is closed
				return
			}
			_, _ = io.WriteString(w, "{}")
		}))
		transport := newHTTPClient(false).Transport.(*http.Transport)
		transport.DialContext = server.Client().Transport.(*http.Transport).DialContext
		client := newClient(transport)
		Connect(client)
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

// A server is trusted if Amazon's roots, or else the system's, signed its certificate.
func TestRoots(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	none, signer := x509.NewCertPool(), x509.NewCertPool()
	signer.AddCert(server.Certificate())
	for system, want := range map[*x509.CertPool]bool{none: false, signer: true} {
		connection, err := dialTLS(none, system)(t.Context(), "tcp", server.Listener.Addr().String())
		if (err == nil) != want {
			t.Errorf("dialTLS = %v, want the server trusted: %t", err, want)
		}
		if err == nil {
			_ = connection.Close()
		}
	}
}

// Amazon's roots are tried for AWS's own endpoint alone. Another one would get a second handshake.
func TestRootsByEndpoint(t *testing.T) {
	for endpoint, want := range map[*string]bool{nil: true, aws.String("https://dynamodb.example"): false} {
		client := NewClient(aws.Config{BaseEndpoint: endpoint}).Options().HTTPClient.(*http.Client)
		if got := client.Transport.(*http.Transport).DialTLSContext != nil; got != want {
			t.Errorf("endpoint %q: Amazon's roots are tried: %t, want %t", aws.ToString(endpoint), got, want)
		}
	}
}

func TestAmazonRoots(t *testing.T) {
	var got []string
	for block, rest := pem.Decode(amazonRoots); block != nil; block, rest = pem.Decode(rest) {
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, root.Subject.CommonName)
	}
	want := []string{
		"Amazon Root CA 1", "Amazon Root CA 2", "Amazon Root CA 3", "Amazon Root CA 4",
		"Starfield Services Root Certificate Authority - G2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the embedded roots are %q, want %q", got, want)
	}
}

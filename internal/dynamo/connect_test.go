package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"plantstore/internal/token"
)

// The connection that Connect opens is the one of the first operation, and Connect
// sends nothing but a GET without credentials.
func TestConnect(t *testing.T) {
	client, sent := standIn(t, denied) // the function reads on
	Connect(client)
	_, err := (&TokenStore{Client: client, Table: "tokens"}).Find(t.Context(), "id")
	requests := sent()
	if len(requests) != 2 || requests[0].RemoteAddr != requests[1].RemoteAddr {
		t.Fatalf("Connect and Find (%v) sent %d requests, want two on one connection", err, len(requests))
	}
	if r := requests[0]; r.Method != http.MethodGet || r.URL.Path != "/" || r.Header.Get("Authorization")+r.body != "" {
		t.Errorf("Connect sent %s %s with %v and %q, want GET / without credentials", r.Method, r.URL, r.Header, r.body)
	}
}

// A start does not fail for want of a connection, nor wait long for one.
func TestConnectInVain(t *testing.T) {
	t.Parallel()
	each(t, [][]attempt{nil, {stalls}, {begins(200, stalls)}, {switches}}, func(t *testing.T, attempts []attempt) {
		client, _ := standIn(t, attempts...)
		start := time.Now()
		Connect(client)
		if took := time.Since(start); took > 2*AttemptTimeout {
			t.Errorf("Connect took %v, want %v at most", took, AttemptTimeout)
		}
	})
}

// A function trusts Amazon's roots first where it talks to AWS under amazonaws.com,
// and the system's elsewhere.
func TestRoots(t *testing.T) {
	amazon := x509.NewCertPool()
	amazon.AppendCertsFromPEM(amazonRoots)
	type where struct{ region, endpoint string }
	for of, want := range map[where]bool{
		{"us-east-1", ""}: true, {"eu-central-1", ""}: true, {"us-gov-west-1", ""}: true, {"a-region-to-come-1", ""}: true,
		{"us-east-1", "https://localhost:8000"}: false, {"cn-north-1", ""}: false, {"us-iso-east-1", ""}: false,
		{"us-isob-east-1", ""}: false, {"eu-isoe-west-1", ""}: false, {"eusc-de-east-1", ""}: false,
	} {
		outer, _ := functionClient(of.region, of.endpoint).Options().HTTPClient.(checkedClient)
		system, first := outer.HTTPClient, false
		if c, ok := system.(*amazonFirst); ok {
			system, first = c.system, roots(t, c.amazon).Equal(amazon)
		}
		if first != want || roots(t, system) != nil {
			t.Errorf("region %s, endpoint %q: trusts Amazon's roots first = %t, then %v, want %t, then the system's",
				of.region, of.endpoint, first, roots(t, system), want)
		}
	}
}

// roots returns the roots that client trusts, nil for the system's.
func roots(t *testing.T, client aws.HTTPClient) *x509.CertPool {
	t.Helper()
	c, ok := client.(*awshttp.BuildableClient)
	if !ok {
		t.Fatalf("the client is %T, want the SDK's own", client)
	}
	return c.GetTransport().TLSClientConfig.RootCAs
}

// A certificate that only the system's roots signed is accepted, after one warning.
// No other certificate is.
func TestAmazonFirst(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(denied.handle)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS() // its certificate is for 127.0.0.1, not for localhost
	t.Cleanup(server.Close)
	its, none := x509.NewCertPool(), x509.NewCertPool()
	its.AddCert(server.Certificate())
	elsewhere := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, test := range []struct {
		name           string
		amazon, system *x509.CertPool
		url            string
		answered       bool
		warnings       int
	}{
		{"Amazon's roots signed it", its, none, server.URL, true, 0},
		{"only the system's roots signed it", none, its, server.URL, true, 1},
		{"no root signed it", none, none, server.URL, false, 1},
		{"it is for another name", its, its, elsewhere, false, 0},
	} {
		trusting := func(roots *x509.CertPool) aws.HTTPClient {
			return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig.RootCAs = roots })
		}
		var warnings bytes.Buffer
		first := &amazonFirst{
			amazon: trusting(test.amazon), system: trusting(test.system), log: slog.New(slog.NewJSONHandler(&warnings, nil)),
		}
		client := newClient(configuration("us-east-1", test.url), first)
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err := (&TokenStore{Client: client, Table: "tokens"}).Find(ctx, "id")
			cancel()
			if answered := !errors.Is(err, token.ErrUnavailable); answered != test.answered {
				t.Errorf("%s: Find = %v, want an answer = %t", test.name, err, test.answered)
			}
		}
		if got := strings.Count(warnings.String(), `"level":"WARN"`); got != test.warnings {
			t.Errorf("%s: %d warnings, want %d: %s", test.name, got, test.warnings, &warnings)
		}
	}
}

// The embedded roots are the five of Amazon Trust Services, known by the SHA-256
// that it publishes.
func TestAmazonRoots(t *testing.T) {
	want := []string{
		"8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e", // Amazon Root CA 1
		"1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4", // Amazon Root CA 2
		"18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4", // Amazon Root CA 3
		"e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092", // Amazon Root CA 4
		"568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5", // Starfield Services Root CA - G2
	}
	got := []string{}
	for block, rest := pem.Decode(amazonRoots); block != nil; block, rest = pem.Decode(rest) {
		got = append(got, fmt.Sprintf("%x", sha256.Sum256(block.Bytes)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the embedded roots = %q, want %q", got, want)
	}
}

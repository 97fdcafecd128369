package dynamo

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// The connection that Connect opens is the one of the first operation, and Connect
// sends nothing but a GET without credentials.
func TestConnect(t *testing.T) {
	client, sent := standIn(t, denied) // the function reads on
	Connect(client)
	_, err := (&TokenStore{Client: client, Table: "tokens"}).Find(t.Context(), "digest")
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

// A function trusts Amazon's roots alone where it talks to AWS under
// amazonaws.com, and the system's elsewhere.
func TestRoots(t *testing.T) {
	amazon := x509.NewCertPool()
	amazon.AppendCertsFromPEM(amazonRoots)
	type where struct{ region, endpoint string }
	for of, want := range map[where]bool{
		{"us-east-1", ""}: true, {"eu-central-1", ""}: true, {"us-gov-west-1", ""}: true, {"a-region-to-come-1", ""}: true,
		{"us-east-1", "https://localhost:8000"}: false, {"cn-north-1", ""}: false, {"us-iso-east-1", ""}: false,
		{"us-isob-east-1", ""}: false, {"eu-isoe-west-1", ""}: false, {"eusc-de-east-1", ""}: false,
	} {
		outer, _ := newClient(of.region, of.endpoint).Options().HTTPClient.(checkedClient)
		httpClient, ok := outer.HTTPClient.(*awshttp.BuildableClient)
		if !ok {
			t.Fatal("the client is not the SDK's own")
		}
		roots := httpClient.GetTransport().TLSClientConfig.RootCAs
		if got := roots != nil && roots.Equal(amazon); got != want || (roots == nil) == want {
			t.Errorf("region %s, endpoint %q: trusts Amazon's roots alone = %t, want %t", of.region, of.endpoint, got, want)
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

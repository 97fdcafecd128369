package dynamo

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// clientOf returns the client of a function whose DynamoDB is at endpoint, which
// is AWS's where that is empty.
func clientOf(t *testing.T, region, endpoint string) *dynamodb.Client {
	t.Helper()
	return NewFunctionClient(Config{
		Region:      region,
		Credentials: aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"},
		Endpoint:    endpoint,
	})
}

// The connection that Connect opens is the one of the first put, and nothing but
// a GET without credentials was sent on it before.
func TestConnect(t *testing.T) {
	var connections atomic.Int32
	var before []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before = append(before, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Amz-Target")+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", amazonJSON)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#AccessDeniedException"}`) // the function reads on
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := clientOf(t, "eu-central-1", server.URL)
	Connect(client)
	if want := []string{"GET / "}; !slices.Equal(before, want) {
		t.Errorf("Connect sent %q, want %q", before, want)
	}
	_, err := (&TokenStore{Client: client, Table: "tokens"}).Find(t.Context(), "digest")
	if got := connections.Load(); got != 1 || len(before) != 2 || err == nil {
		t.Errorf("after Connect and Find (%v): %d connections, %d requests, want 1 and 2", err, got, len(before))
	}
}

// A start does not fail for want of a connection, nor wait long for one.
func TestConnectInVain(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer silent.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	defer slow.Close()
	switching := httptest.NewServer(http.HandlerFunc(switched))
	defer switching.CloseClientConnections()
	defer close(release)
	for name, endpoint := range map[string]string{"another protocol": switching.URL, "nothing listens": gone.URL, "no answer comes": silent.URL, "an answer does not end": slow.URL} {
		start := time.Now()
		Connect(clientOf(t, "eu-central-1", endpoint))
		if took := time.Since(start); took > 1900*time.Millisecond { // the client itself would wait 2 s for an end
			t.Errorf("%s: Connect took %v, want a second at most", name, took)
		}
	}
}

// A function trusts Amazon's roots alone where it talks to AWS under
// amazonaws.com, and the system's elsewhere.
func TestRoots(t *testing.T) {
	tests := []struct {
		region, endpoint string
		amazon           bool
	}{
		{"us-east-1", "", true},
		{"eu-central-1", "", true},
		{"us-gov-west-1", "", true},
		{"a-region-to-come-1", "", true},
		{"us-east-1", "https://localhost:8000", false},
		{"cn-north-1", "", false},
		{"us-iso-east-1", "", false},
		{"us-isob-east-1", "", false},
		{"eu-isoe-west-1", "", false},
		{"eusc-de-east-1", "", false},
	}
	amazon := x509.NewCertPool()
	amazon.AppendCertsFromPEM(amazonRoots)
	for _, test := range tests {
		outer, _ := clientOf(t, test.region, test.endpoint).Options().HTTPClient.(checkedClient)
		httpClient, ok := outer.HTTPClient.(*awshttp.BuildableClient)
		if !ok {
			t.Fatal("the client is not the SDK's own")
		}
		roots := httpClient.GetTransport().TLSClientConfig.RootCAs
		if got := roots != nil && roots.Equal(amazon); got != test.amazon || (roots == nil) == test.amazon {
			t.Errorf("region %s, endpoint %q: trusts Amazon's roots alone = %t, want %t", test.region, test.endpoint, got, test.amazon)
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

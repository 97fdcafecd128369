// Package dynamo keeps plants and tokens in DynamoDB. A put may be repeated because every put is conditional, and a
// failed condition shows whether an earlier attempt stored the item. An attempt is one request to DynamoDB.
package dynamo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // for amazon-roots.pem
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

// attemptTimeout limits an attempt in a function. DynamoDB answers in single milliseconds. Two attempts that hang
// leave time for a third within the 1.7 s of the authorizer. By default, an attempt would wait forever.
const attemptTimeout = 700 * time.Millisecond

// NewClient returns a client with cfg's HTTP client, or else with one whose timeouts are for a function.
func NewClient(cfg aws.Config) *dynamodb.Client {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = newHTTPClient(cfg.BaseEndpoint == nil)
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		conflicts := []string{"TransactionConflictException", "ReplicatedWriteConflictException"}
		o.Retryer = retry.AddWithErrorCodes(retry.NewStandard(), conflicts...)
		o.Logger = logging.Nop{} // what matters comes back as an error
	})
}

func newHTTPClient(toAWS bool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.IdleConnTimeout = 30 * time.Second // DynamoDB may close a connection before the default of 90 s
	if toAWS {
		amazon := x509.NewCertPool()
		amazon.AppendCertsFromPEM(amazonRoots)
		transport.DialTLSContext = dialTLS(amazon, nil) // nil is the system's pool
	}
	return &http.Client{Timeout: attemptTimeout, Transport: transport, CheckRedirect: noRedirect}
}

// noRedirect is for [http.Client.CheckRedirect]. A redirect is not DynamoDB's, and would get the session token.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// amazonRoots are Amazon's root certificates. To parse the hundred of the system takes half as long as the rest of a
// cold start. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// dialTLS is for [http.Transport.DialTLSContext]. If none of Amazon's roots signed a certificate, it tries the
// system's, because AWS may change its roots.
func dialTLS(amazon, system *x509.CertPool) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := func(roots *x509.CertPool) *tls.Dialer {
		return &tls.Dialer{NetDialer: &net.Dialer{Timeout: attemptTimeout}, Config: &tls.Config{RootCAs: roots}}
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dialer(amazon).DialContext(ctx, network, address)
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			return dialer(system).DialContext(ctx, network, address)
		}
		return connection, err
	}
}

// Connect opens the connection that a call within the next 30 s uses, by a GET without credentials: Lambda gives the
// initialization of a function more CPU than its invocations. Elsewhere it only costs a round trip. If it fails, the
// first call reports why.
func Connect(client *dynamodb.Client) {
	o := client.Options()
	parameters := dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint}
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), parameters)
	if err != nil {
		return
	}
	answer, err := o.HTTPClient.Do(&http.Request{Method: http.MethodGet, URL: &endpoint.URI})
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body) // a connection is used again only after its answer is read
	_ = answer.Body.Close()
}

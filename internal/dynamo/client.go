// Package dynamo keeps plants and tokens in DynamoDB. A put may be repeated because every put is conditional, and a
// failed condition shows whether an earlier attempt stored the item.
package dynamo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // for amazon-roots.pem
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

// NewClient returns a client for a program outside Lambda. A request takes at most timeout. The certificates of
// AWS_CA_BUNDLE are kept.
func NewClient(cfg aws.Config, timeout time.Duration) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return newClient(cfg, bounded(httpClient, timeout))
}

// NewFunctionClient returns a client for a Lambda function. cfg need not come from the SDK's config module, which would
// add a third to the time of initialization.
func NewFunctionClient(cfg aws.Config, log *slog.Logger) *dynamodb.Client {
	amazon := x509.NewCertPool()
	amazon.AppendCertsFromPEM(amazonRoots)
	dial := dialTLS(amazon, nil, log)
	httpClient := bounded(awshttp.NewBuildableClient(), attemptTimeout).
		WithTransportOptions(func(t *http.Transport) { t.DialTLSContext = dial })
	return newClient(cfg, httpClient)
}

func newClient(cfg aws.Config, httpClient aws.HTTPClient) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer()
		o.Logger = logging.Nop{} // what matters comes back as an error
		o.HTTPClient = httpClient
	})
}

// bounded closes a connection that has been idle for 30 s: DynamoDB may close it before the SDK's 90 s.
func bounded(client *awshttp.BuildableClient, timeout time.Duration) *awshttp.BuildableClient {
	return client.
		WithTimeout(timeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout }).
		WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = 30 * time.Second })
}

// Connect opens the connection that a call within the next 30 s uses, by a GET without credentials: Lambda gives the
// initialization of a function more CPU than its invocations. If that fails, the first call reports why.
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

// amazonRoots are Amazon's root certificates. To parse the hundred of the system takes as long as the rest of a cold
// start. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// dialTLS is for [http.Transport.DialTLSContext]. It trusts amazon, and then system, because AWS may change its roots, and
// other partitions may have others. Roots that are nil are the system's.
func dialTLS(amazon, system *x509.CertPool, log *slog.Logger) func(context.Context, string, string) (net.Conn, error) {
	trusting := func(roots *x509.CertPool) *tls.Dialer {
		return &tls.Dialer{
			NetDialer: &net.Dialer{Timeout: attemptTimeout},
			Config:    &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		}
	}
	warn := sync.OnceFunc(func() { log.Warn("no embedded root signed the certificate of DynamoDB; trying the system's roots") })
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := trusting(amazon).DialContext(ctx, network, address)
		if err == nil || !causedBy[x509.UnknownAuthorityError](err) {
			return connection, err
		}
		warn()
		return trusting(system).DialContext(ctx, network, address)
	}
}

// attemptTimeout limits one request to DynamoDB.
const attemptTimeout = 700 * time.Millisecond

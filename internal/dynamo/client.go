// Package dynamo keeps plants and tokens in DynamoDB.
//
// An attempt is one request to DynamoDB. A call repeats attempts until its outcome is known, DynamoDB refuses one
// for good, the context ends or the client's quota of retries is used up. A put may be repeated because every put is
// conditional, and a failed condition shows whether an earlier attempt stored the item. Nothing is ever read to find out.
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

	"plantstore/internal/budget"
)

// NewClient returns a client for a program outside Lambda. An attempt takes at most timeout. An HTTP client of the SDK
// in cfg keeps its certificates, such as those of AWS_CA_BUNDLE.
func NewClient(cfg aws.Config, timeout time.Duration) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return newClient(cfg, bounded(httpClient, timeout))
}

// NewFunctionClient returns a client for a Lambda function. An attempt takes at most [budget.AttemptTimeout]. cfg need
// not come from the SDK's config module, which would add a third to the time of initialization.
func NewFunctionClient(cfg aws.Config, log *slog.Logger) *dynamodb.Client {
	amazon := x509.NewCertPool()
	amazon.AppendCertsFromPEM(amazonRoots)
	dial := dialTLS(amazon, nil, log)
	httpClient := bounded(awshttp.NewBuildableClient(), budget.AttemptTimeout).
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

// bounded closes a connection that has been idle for 30 s. The SDK would keep it for 90 s, and DynamoDB may close it
// before: an attempt on a closed connection fails.
func bounded(client *awshttp.BuildableClient, timeout time.Duration) *awshttp.BuildableClient {
	return client.
		WithTimeout(timeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout }).
		WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = 30 * time.Second })
}

// Connect opens the connection that a call within the next 30 s uses: Lambda gives the initialization of a
// function more CPU than its invocations. It sends one GET without credentials. If that fails, the first call opens
// the connection, and reports why it cannot.
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

// amazonRoots are the root certificates of Amazon's certificate authorities. The system has a hundred more, and to
// parse them takes as long as the rest of a cold start. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// dialTLS is for [http.Transport.DialTLSContext]. It trusts the roots of amazon, and then those of system, because AWS may
// change its own, and other partitions may have others. If system is nil, these are the system's.
func dialTLS(amazon, system *x509.CertPool, log *slog.Logger) func(context.Context, string, string) (net.Conn, error) {
	trusting := func(roots *x509.CertPool) *tls.Dialer {
		return &tls.Dialer{
			NetDialer: &net.Dialer{Timeout: budget.AttemptTimeout},
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

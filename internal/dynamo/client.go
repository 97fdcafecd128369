// Package dynamo keeps plants and tokens in DynamoDB.
//
// Every put is conditional and carries the key of its request, so it is repeated until the outcome is
// known, the context ends or the retry quota is used up. Nothing is ever read to find out.
package dynamo

import (
	"context"
	"crypto/x509"
	_ "embed" // for amazon-roots.pem
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

// AttemptTimeout bounds one attempt of a handler, from dialing to the last byte of the answer.
// DynamoDB answers in single milliseconds. Two attempts that hang leave time for a third within
// the authorizer's budget. The SDK's own limit is 30 s to dial, and none for an answer.
const AttemptTimeout = 700 * time.Millisecond

// NewClient returns a client by cfg, whose attempts take at most timeout, with the retries that the
// stores need. If the HTTP client of cfg is the SDK's own, its certificates are kept.
func NewClient(cfg aws.Config, timeout time.Duration) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return newClient(cfg, bounded(httpClient, timeout))
}

// NewFunctionClient returns a client for a Lambda function. It does without the SDK's config module,
// which looks for files and services that a function does not have. See also [amazonFirst].
func NewFunctionClient(cfg aws.Config, log *slog.Logger) *dynamodb.Client {
	system := bounded(awshttp.NewBuildableClient(), AttemptTimeout)
	roots := trustedRoots(cfg)
	if roots == nil {
		return newClient(cfg, system)
	}
	amazon := system.WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig.RootCAs = roots })
	return newClient(cfg, &amazonFirst{amazon: amazon, system: system, log: log})
}

func newClient(cfg aws.Config, httpClient aws.HTTPClient) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer, o.RetryMaxAttempts = newRetryer(), 0
		o.Logger = logging.Nop{}                 // what matters comes back as an error
		o.DisableValidateResponseChecksum = true // checkedClient does, and returns an error
		o.HTTPClient = checkedClient{httpClient}
	})
}

// bounded returns a copy of client whose attempts take at most timeout. It closes idle connections
// after 30 s: the other side may close them after 90 s.
func bounded(client *awshttp.BuildableClient, timeout time.Duration) *awshttp.BuildableClient {
	return client.
		WithTimeout(timeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout }).
		WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = 30 * time.Second })
}

// ParseEndpoint parses the URL of a DynamoDB that is not AWS's. Its error begins with name.
func ParseEndpoint(name, endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New(name + " is not an http or https URL, such as http://127.0.0.1:8000")
	}
	return u, nil
}

// Connect opens the connection that an operation within the next 30 s uses: Lambda gives the
// initialization of a function more CPU than its invocations. It sends one GET without credentials,
// as one attempt. If it fails, the first operation opens the connection, and reports why it cannot.
func Connect(client *dynamodb.Client) {
	o := client.Options()
	where := dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint}
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), where)
	if err != nil {
		return
	}
	if answer, err := o.HTTPClient.Do(&http.Request{Method: http.MethodGet, URL: &endpoint.URI}); err == nil {
		_ = answer.Body.Close() // checkedClient has read it, so the connection stays open
	}
}

// amazonRoots are the roots of AWS's certificates. The system has a hundred more, which Go would parse
// for the first TLS connection. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// trustedRoots returns Amazon's roots, or nil, which means the system's, if the endpoint of cfg is not
// under amazonaws.com: it may have others, as in China, the isolated regions and the sovereign cloud.
func trustedRoots(cfg aws.Config) *x509.CertPool {
	where := dynamodb.EndpointParameters{Region: &cfg.Region}
	endpoint, err := dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), where)
	if err != nil || cfg.BaseEndpoint != nil || !strings.HasSuffix(endpoint.URI.Host, ".amazonaws.com") {
		return nil
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(amazonRoots)
	return roots
}

// amazonFirst trusts Amazon's roots alone until a certificate is signed by none of them, because AWS
// may change its roots. From then on it trusts the system's. The attempt that meets the certificate
// fails before it sends a request, so it is repeated.
type amazonFirst struct {
	amazon, system aws.HTTPClient // by the roots that they trust
	log            *slog.Logger
	changed        atomic.Bool // system is in use
}

// Do implements [aws.HTTPClient].
func (c *amazonFirst) Do(request *http.Request) (*http.Response, error) {
	if c.changed.Load() {
		return c.system.Do(request)
	}
	answer, err := c.amazon.Do(request)
	if causedBy[x509.UnknownAuthorityError](err) && !c.changed.Swap(true) {
		c.log.Warn("no embedded root signed the certificate of DynamoDB; trusting the system's roots", "error", err.Error())
	}
	return answer, err
}

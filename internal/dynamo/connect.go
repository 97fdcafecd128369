package dynamo

import (
	"context"
	"crypto/x509"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Connect opens the connection that an operation within the next 30 s uses, so
// that the operation does not wait for one: Lambda gives the initialization of a
// function more CPU than its invocations. Connect sends one GET without
// credentials, as one attempt. If it fails, the first operation opens the
// connection, and reports why it cannot.
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

// amazonRoots are the roots of AWS's certificates. The system's roots include
// them, among a hundred others, and Go would parse all of those for the first TLS
// connection. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// trustedRoots returns the roots to trust for the endpoint of cfg: Amazon's, or
// nil, which means the system's, if the endpoint is not under amazonaws.com and may
// have other roots, as in China, the isolated regions and the sovereign cloud.
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

// amazonFirst trusts Amazon's roots alone until a certificate is signed by none of
// them, because AWS may change its roots. From then on it trusts the system's. The
// attempt that meets the certificate fails before it sends a request, so it is
// repeated.
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
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown && !c.changed.Swap(true) {
		c.log.Warn("no embedded root signed the certificate of DynamoDB; trusting the system's roots", "error", err.Error())
	}
	return answer, err
}

package dynamo

import (
	"context"
	"crypto/x509"
	_ "embed"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// connectTimeout is how long a start waits for its connection.
const connectTimeout = time.Second

// Connect opens the connection that an operation within the next 30 s uses, so
// that the operation does not wait for one: Lambda gives the initialization of a
// function more CPU than its invocations. Connect sends one GET without
// credentials and waits for at most a second. If it fails, the first operation
// opens the connection, and reports why it cannot.
func Connect(client *dynamodb.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	o := client.Options()
	where := dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint}
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, where)
	if err != nil {
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), nil)
	if err != nil {
		return
	}
	answer, err := o.HTTPClient.Do(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, answer.Body) // an unread answer would close the connection
	_ = answer.Body.Close()
}

// amazonRoots are the roots of AWS's certificates. The system's roots include
// them, among a hundred others, and Go would parse all of those for the first TLS
// connection. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// trustedRoots returns the roots to trust for AWS's endpoint in region: Amazon's,
// or nil, which means the system's, if the endpoint is not under amazonaws.com and
// may have other roots, as in China, the isolated regions and the sovereign cloud.
func trustedRoots(region string) *x509.CertPool {
	where := dynamodb.EndpointParameters{Region: &region}
	endpoint, err := dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), where)
	if err != nil || !strings.HasSuffix(endpoint.URI.Host, ".amazonaws.com") {
		return nil
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(amazonRoots)
	return roots
}

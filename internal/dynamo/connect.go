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

// Connect opens the connection that an operation within the next 30 s will use, so
// that it does not wait for one: the initialization of a function has more CPU than
// what comes after it. It asks DynamoDB for nothing, and waits for a second at
// most. Where it fails, the first operation opens the connection, and says why it
// cannot.
func Connect(client *dynamodb.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	o := client.Options()
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint})
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
	_, _ = io.Copy(io.Discard, answer.Body) // read to its end, or the connection is not used again
	_ = answer.Body.Close()
}

// amazonRoots are the roots that AWS's certificates go back to. A system has them
// too, among a hundred others, all of which Go would read at its first TLS
// connection. Source: https://www.amazontrust.com/repository/.
//
//go:embed amazon-roots.pem
var amazonRoots []byte

// rootsOf returns the roots to trust for AWS's endpoint in region: Amazon's, or
// nil, which means those of the system, where AWS is on a domain of its own and
// may have other roots, as in China, in the isolated regions and in the sovereign
// cloud.
func rootsOf(region string) *x509.CertPool {
	endpoint, err := dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), dynamodb.EndpointParameters{Region: &region})
	if err != nil || !strings.HasSuffix(endpoint.URI.Host, ".amazonaws.com") {
		return nil
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(amazonRoots)
	return roots
}

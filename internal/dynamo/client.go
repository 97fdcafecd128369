// Package dynamo keeps plants and tokens in DynamoDB.
//
// An attempt is one request to DynamoDB. A call repeats attempts until its outcome is known, DynamoDB refuses one
// for good, the context ends or the retry quota is used up: the client's allowance for retries, see [newRetryer]. A
// put may be repeated because every put is conditional, and a failed condition shows whether an earlier attempt
// stored the item. Nothing is ever read to find out.
package dynamo

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"plantstore/internal/budget"
)

// NewClient returns a client for cfg, whose attempts take at most timeout. It is for a program outside Lambda, such
// as plantstore. If the HTTP client of cfg is the SDK's own, its certificates are kept, such as those of
// AWS_CA_BUNDLE.
func NewClient(cfg aws.Config, timeout time.Duration) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return newClient(cfg, bounded(httpClient, timeout))
}

// NewFunctionClient returns a client for a Lambda function. It does without the SDK's config module, which
// looks for files and services that a function does not have. The module would add a third to the time of
// initialization, and 2 MB to the program. For AWS's own DynamoDB the client trusts Amazon's root certificates
// first, see [amazonFirst].
func NewFunctionClient(cfg aws.Config, log *slog.Logger) *dynamodb.Client {
	httpClient := bounded(awshttp.NewBuildableClient(), budget.AttemptTimeout)
	if amazonSigns(cfg) {
		dialer := newAmazonFirst(log)
		httpClient = httpClient.WithTransportOptions(func(t *http.Transport) { t.DialTLSContext = dialer.dial })
	}
	return newClient(cfg, httpClient)
}

func newClient(cfg aws.Config, httpClient aws.HTTPClient) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer() // only [call] uses it: for each attempt, call gives the SDK one that repeats nothing
		o.Logger = logging.Nop{} // what matters comes back as an error
		o.HTTPClient = httpClient
	})
}

// bounded returns a copy of client whose attempts take at most timeout. It closes a connection that has been idle
// for 30 s. The SDK would keep it for 90 s, and DynamoDB may close it before: an attempt on a closed connection
// fails.
func bounded(client *awshttp.BuildableClient, timeout time.Duration) *awshttp.BuildableClient {
	return client.
		WithTimeout(timeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout }).
		WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = 30 * time.Second })
}

// Connect opens the connection that a call within the next 30 s uses: Lambda gives the initialization of a
// function more CPU than its invocations. It sends one GET without credentials, as one attempt. If it fails, the
// first call opens the connection, and reports why it cannot.
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

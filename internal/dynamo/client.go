// Package dynamo stores plants and tokens in DynamoDB.
//
// Every put is conditional, so it may be repeated: if the condition fails, DynamoDB returns the stored item, which shows
// whether an earlier attempt stored it.
package dynamo

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// attemptTimeout leaves time for a third attempt in the authorizer's 1.7 s if the first two hang.
const attemptTimeout = 700 * time.Millisecond

// Client is a DynamoDB client that makes a single attempt for each call. The stores repeat attempts, with withRetries.
type Client struct {
	api     *dynamodb.Client
	retryer aws.RetryerV2 // keeps the quota of retries
}

// NewClient returns a client that uses cfg's HTTP client or, if that is nil, one with a function's timeouts.
func NewClient(cfg aws.Config) *Client {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = newHTTPClient()
	}
	return &Client{
		api:     dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }),
		retryer: retry.NewStandard(),
	}
}

func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.IdleConnTimeout = 30 * time.Second // DynamoDB may close a connection before the usual 90 s
	return &http.Client{Timeout: attemptTimeout, Transport: transport, CheckRedirect: noRedirects}
}

// noRedirects is an [http.Client.CheckRedirect]. DynamoDB does not redirect, and another server would get the session
// token.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Connect opens the connection early, while Lambda still gives the function a whole CPU. It sends a GET without
// credentials, and ignores errors, which the first call will report.
func (c *Client) Connect() {
	ctx := context.Background()
	o := c.api.Options()
	parameters := dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint}
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, parameters)
	if err != nil {
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), nil)
	if err != nil {
		return
	}
	response, err := o.HTTPClient.Do(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body) // otherwise the connection is not reused
	_ = response.Body.Close()
}

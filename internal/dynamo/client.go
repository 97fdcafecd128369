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

// Client is a DynamoDB client that makes a single attempt for each call, because the SDK's own retries do not know the
// deadline. The stores repeat attempts.
type Client struct {
	api     *dynamodb.Client
	retryer aws.RetryerV2 // says what may be repeated, and keeps the quota
}

// NewClient returns a client that uses cfg's HTTP client or, if that is nil, one with a function's timeouts.
func NewClient(cfg aws.Config) *Client {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = newHTTPClient()
	}
	conflicts := map[string]struct{}{"TransactionConflictException": {}, "ReplicatedWriteConflictException": {}}
	return &Client{
		api: dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }),
		retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Retryables = append(o.Retryables, retry.RetryableErrorCode{Codes: conflicts})
		}),
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
	o := c.api.Options()
	parameters := dynamodb.EndpointParameters{Region: &o.Region, Endpoint: o.BaseEndpoint}
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), parameters)
	if err != nil {
		return
	}
	response, err := o.HTTPClient.Do(&http.Request{Method: http.MethodGet, URL: &endpoint.URI})
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body) // otherwise the connection is not reused
	_ = response.Body.Close()
}

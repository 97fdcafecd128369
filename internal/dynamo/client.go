// Package dynamo keeps plants and tokens in DynamoDB.
//
// Every put is conditional and carries the key of its request, so it can be
// repeated. It is repeated until the outcome is known, the context ends or the
// retry quota is used up. Nothing is ever read to find out.
package dynamo

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

const (
	// AttemptTimeout bounds one attempt of a handler, from dialing to the last
	// byte of the answer. DynamoDB answers in single milliseconds. Two attempts
	// that hang leave time for a third within the authorizer's budget. The SDK's
	// own limit is 30 s to dial, and none for an answer.
	AttemptTimeout = 700 * time.Millisecond

	// idleTimeout is well below the 90 s after which the other side may have
	// closed an idle connection.
	idleTimeout = 30 * time.Second
)

// NewClient returns a client by cfg, whose attempts take at most timeout, with the
// retries that the stores of this package need. If the HTTP client of cfg is the
// SDK's own, its certificates are kept.
func NewClient(cfg aws.Config, timeout time.Duration) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return newClient(cfg, bounded(httpClient, timeout))
}

// NewFunctionClient returns a client for a Lambda function. It does without the
// SDK's config module, which looks for files and services that a function does
// not have, and trusts Amazon's roots alone while it can: see connect.go.
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

// bounded returns a copy of client whose attempts take at most timeout.
func bounded(client *awshttp.BuildableClient, timeout time.Duration) *awshttp.BuildableClient {
	return client.
		WithTimeout(timeout).
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = timeout }).
		WithTransportOptions(func(t *http.Transport) { t.IdleConnTimeout = idleTimeout })
}

// ParseEndpoint parses the URL of a DynamoDB that is not AWS's.
func ParseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("is not an http or https URL, such as http://127.0.0.1:8000")
	}
	return u, nil
}

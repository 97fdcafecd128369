// Package dynamo connects the functions to DynamoDB, and developers to DynamoDB Local.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
)

// attemptTimeout leaves time for a third attempt within a request if the first two hang.
const attemptTimeout = 1500 * time.Millisecond

// ErrUnavailable is wrapped by a client's errors if DynamoDB failed or did not answer in time. A write may have taken effect
// all the same, and the same call may succeed later. With other errors, it would most likely fail again.
var ErrUnavailable = errors.New("DynamoDB is unavailable")

// Open returns what a function needs: a client that has already connected, and the table that a variable names.
func Open(ctx context.Context, tableVariable string) (client *dynamodb.Client, table string, err error) {
	if table = os.Getenv(tableVariable); table == "" {
		return nil, "", fmt.Errorf("the environment variable %s is not set", tableVariable)
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, "", err
	}
	client = New(cfg, http.DefaultTransport)
	connect(ctx, client.Options())
	return client, table, nil
}

// New returns a client for a function. It repeats a call that failed, so whatever it does must be repeatable.
func New(cfg aws.Config, transport http.RoundTripper) *dynamodb.Client {
	cfg.HTTPClient = &http.Client{
		Transport: transport,
		Timeout:   attemptTimeout,
		// A redirect would turn a put into a GET, whose success would count as the put's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = 10                  // with the pauses between them, about as many as fit into a request's time
			r.BaseDelay = 25 * time.Millisecond // as the SDK has it for DynamoDB; here the default is 50
			// The SDK's quota for retries is one for the whole process. An outage would use it up within four requests, and
			// for some time afterwards, requests would fail at the first error. Without it, each request of an outage makes
			// up to ten attempts.
			r.RateLimiter = ratelimit.None
			// By itself, the SDK gives up at once on some errors that may pass, such as an unknown host.
			r.Retryables = []retry.IsErrorRetryable{
				retry.NoRetryCanceledError{},
				retry.IsErrorRetryableFunc(func(err error) aws.Ternary { return aws.BoolTernary(mayPass(err)) }),
			}
		})
		o.APIOptions = append(o.APIOptions, explainErrors)
		o.Logger = logging.Nop{} // otherwise the SDK would print a false warning whenever an id is taken
		if os.Getenv("AWS_SAM_LOCAL") == "true" {
			useLocal(o)
		}
	})
}

// explainErrors makes a client's errors name the cause, and wrap [ErrUnavailable] where it applies.
func explainErrors(stack *middleware.Stack) error {
	explain := func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		// The last result is that of the attempt, or of the pause, which the deadline ended. The one before says why.
		attempts, _ := retry.GetAttemptResults(metadata)
		if n := len(attempts.Results); n > 1 && errors.Is(err, context.DeadlineExceeded) {
			err = attempts.Results[n-2].Err
		}
		if err != nil && mayPass(err) {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return out, metadata, err
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("ExplainErrors", explain), "Retry", middleware.Before)
}

// mayPass reports whether a call that failed may succeed later. It will not if it was never tried, as without credentials,
// or if DynamoDB refused it with a 4xx that the SDK would not repeat.
func mayPass(err error) bool {
	response, wasTried := errors.AsType[*awshttp.ResponseError](err)
	if !wasTried {
		return errors.Is(err, context.DeadlineExceeded)
	}
	if response.HTTPStatusCode()/100 != 4 {
		return true
	}
	refusal, hasCode := errors.AsType[smithy.APIError](err)
	if !hasCode || refusal.ErrorCode() == "UnknownError" { // the SDK's name for a missing code
		return true // DynamoDB always sends a code, so something in between refused
	}
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}

// connect opens a connection before the first event, while Lambda still gives the function a whole CPU: with a seventh of
// one, TLS would make the first answer take many times as long. It sends a GET without credentials. An error does not
// matter, because the first request will see it too.
func connect(ctx context.Context, o dynamodb.Options) {
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
	})
	if err != nil {
		return
	}
	if response, err := o.HTTPClient.Do(&http.Request{URL: &endpoint.URI}); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // otherwise the connection would not be used again
		_ = response.Body.Close()
	}
}

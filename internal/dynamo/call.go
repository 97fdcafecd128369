package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The delay before another attempt is random, between zero and a limit that doubles each time. Source: Amazon Builders'
// Library, "Timeouts, retries, and backoff with jitter".
const (
	firstDelayLimit = 25 * time.Millisecond
	maxDelayLimit   = time.Second

	minAttempt = 100 * time.Millisecond // with less time left, the deadline would cut the attempt off
)

// call sends a request until DynamoDB answers it, the deadline of ctx is near, or the client's retry quota is used up:
// in a long outage, each call makes one attempt. An error that wraps unavailable means that the outcome is not known.
func call[In, Out any](
	ctx context.Context,
	client *dynamodb.Client,
	send func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	in *In,
	unavailable error,
) (*Out, error) {
	retryer := client.Options().Retryer
	release := retryer.GetInitialToken()
	var previous error // names the cause if the deadline cuts off the last attempt
	for limit := firstDelayLimit; ; limit = min(2*limit, maxDelayLimit) {
		out, err := send(client, ctx, in, sendOnce)
		_ = release(err) // a success refills the quota
		if err == nil || ctx.Err() == nil && !isUnanswered(err) && !retryer.IsErrorRetryable(err) {
			return out, err
		}
		delay := rand.N(limit)
		nextRelease, quotaErr := retryer.GetRetryToken(ctx, err)
		if quotaErr != nil || !lasts(ctx, delay+minAttempt) {
			return nil, fmt.Errorf("%w: %w", unavailable, errors.Join(err, previous, quotaErr))
		}
		release, previous = nextRelease, err
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
	}
}

// sendOnce turns off the retries of the SDK, which do not know the deadline.
func sendOnce(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// lasts reports whether ctx has at least d left.
func lasts(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) >= d)
}

// isUnanswered reports whether a request was sent and DynamoDB did not answer it. The names of DynamoDB's refusals end
// in Exception. Any other answer may be cut off, or come from a proxy.
func isUnanswered(err error) bool {
	_, sent := errors.AsType[*smithyhttp.ResponseError](err) // also without a response
	apiError, ok := errors.AsType[smithy.APIError](err)
	refused := ok && strings.HasSuffix(apiError.ErrorCode(), "Exception")
	return sent && !refused
}

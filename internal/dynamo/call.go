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

// call makes attempts of an operation, such as PutItem, until DynamoDB answers one, the deadline of ctx is near, or the
// client's retry quota is used up. An error that is also unavailable means that there was no answer: an attempt may
// have been carried out.
func call[In, Out any](
	ctx context.Context,
	send func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	in *In,
	unavailable error,
) (*Out, error) {
	r := &retryer{ctx: ctx}
	out, err := send(ctx, in, r.wrap)
	if err != nil && (ctx.Err() != nil || r.IsErrorRetryable(err)) {
		return nil, fmt.Errorf("%w: %w", unavailable, errors.Join(err, r.lastRepeated))
	}
	return out, err
}

// retryer is the client's retryer with what one call changes. It has no limit of attempts. The quota stays that of the
// client: in a long outage, each call fails at its first attempt.
type retryer struct {
	aws.Retryer
	ctx          context.Context // of the call, because RetryDelay gets none
	lastRepeated error           // of the last attempt that was repeated; at the deadline, the SDK returns no cause
}

// wrap is an option of an operation.
func (r *retryer) wrap(o *dynamodb.Options) {
	r.Retryer = o.Retryer
	o.Retryer = r
}

// MaxAttempts implements [aws.Retryer]. Zero means without a limit.
func (r *retryer) MaxAttempts() int { return 0 }

// IsErrorRetryable implements [aws.Retryer]. The SDK knows throttling, and a signature with the time of a wrong clock.
func (r *retryer) IsErrorRetryable(err error) bool {
	return isUnanswered(err) || r.Retryer.IsErrorRetryable(err)
}

// RetryDelay implements [aws.Retryer]. The delay is random, up to 25 ms, 50 ms and so on, at most a second. Source:
// Amazon Builders' Library, "Timeouts, retries, and backoff with jitter". No attempt begins in the last 100 ms before
// the deadline, which would cut it off.
func (r *retryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay := rand.N(min(25*time.Millisecond<<min(attempt-1, 6), time.Second))
	if deadline, ok := r.ctx.Deadline(); ok && time.Until(deadline) < delay+100*time.Millisecond {
		return 0, fmt.Errorf("no time for another attempt: %w", err)
	}
	r.lastRepeated = err
	return delay, nil
}

// isUnanswered reports whether an attempt has no answer of DynamoDB, whose refusals end in Exception. Any other answer
// may come from a proxy, or be cut.
func isUnanswered(err error) bool {
	_, sent := errors.AsType[*smithyhttp.ResponseError](err) // also without a response
	apiError, ok := errors.AsType[smithy.APIError](err)
	refused := ok && strings.HasSuffix(apiError.ErrorCode(), "Exception")
	return sent && !refused
}

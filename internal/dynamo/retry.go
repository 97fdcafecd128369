package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptrace"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const firstDelay, maxDelay = 25 * time.Millisecond, time.Second // bounds of the delay between attempts

// newRetryer returns the SDK's standard retryer, which [call] uses without a limit of attempts. They
// end at the context's deadline, or when the SDK's retry quota is used up. The client keeps the quota
// across operations: a retry takes from it, a success gives back. So in a long outage each operation
// fails at its first attempt. Source: Amazon Builders' Library, "Timeouts, retries, and backoff with jitter".
func newRetryer() *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(delay)
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(retryable)}, o.Retryables...)
	})
}

// retryable adds to the SDK's rules: repeat an attempt that got no answer from DynamoDB, whatever the
// cause, and one that conflicted with another write. The SDK gives up in an outage of DNS, for example.
func retryable(err error) aws.Ternary {
	switch {
	case causedBy[*smithy.CanceledError](err):
		return aws.FalseTernary
	case causedBy[*smithyhttp.RequestSendError](err), causedBy[*smithy.DeserializationError](err),
		causedBy[*types.TransactionConflictException](err), causedBy[*types.ReplicatedWriteConflictException](err):
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// causedBy reports whether err is or wraps an E.
func causedBy[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// delay returns a random time up to a bound that doubles with each attempt: full jitter.
func delay(attempt int, _ error) (time.Duration, error) {
	bound := min(firstDelay<<min(max(attempt-1, 0), 10), maxDelay)
	return rand.N(bound), nil
}

// call calls an operation of the SDK. It translates the error that ends it: into unknown if an attempt
// may have been applied, and into unavailable if none was and a later retry may succeed.
func call[In, Out any](
	ctx context.Context, operation func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In,
	unknown, unavailable error,
) (*Out, error) {
	var a attempts
	connected := func(httptrace.GotConnInfo) { a.sent = true }
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: connected})
	out, err := operation(traced, in, func(o *dynamodb.Options) {
		a.RetryerV2, _ = o.Retryer.(aws.RetryerV2) // it keeps the client's quota
		o.Retryer = &a
	})
	if err == nil {
		return out, nil
	}
	if a.last != nil && !errors.Is(err, a.last) {
		err = fmt.Errorf("%w; an attempt: %w", err, a.last)
	}
	switch {
	case a.applied:
		return nil, fmt.Errorf("%w: %w", unknown, err)
	case a.temporary || ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", unavailable, err)
	}
	return nil, fmt.Errorf("dynamo: %w", err)
}

// attempts is the retryer of a single operation. It records what may have happened.
type attempts struct {
	aws.RetryerV2

	sent      bool  // the running attempt got a connection
	applied   bool  // an attempt may have been applied
	temporary bool  // the last failure is worth a retry
	last      error // why the last attempt failed; a timeout keeps an earlier cause
}

// MaxAttempts returns 0, which means no limit.
func (*attempts) MaxAttempts() int { return 0 }

// IsErrorRetryable is called by the SDK after each attempt that failed. An attempt that was sent may
// have been applied, unless DynamoDB refused it with 4xx. It is repeated even if the SDK would not.
func (a *attempts) IsErrorRetryable(err error) bool {
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	unknown := a.sent && (!ok || answer.HTTPStatusCode()/100 != 4)
	a.sent = false
	a.applied = a.applied || unknown
	a.temporary = unknown || a.RetryerV2.IsErrorRetryable(err)
	if !errors.Is(err, context.DeadlineExceeded) || a.last == nil {
		a.last = err
	}
	return a.temporary
}

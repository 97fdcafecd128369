package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// newRetryer returns the SDK's standard retryer, for [retries]. Three rules decide which attempts are repeated:
//   - the SDK's: those that were throttled, were answered with status 500, 502, 503 or 504, lost their connection, or
//     were refused because the clock is wrong by more than four minutes
//   - [retryable], which adds to them
//   - [call], which also repeats every attempt that may have been applied
//
// The retryer also keeps the retry quota of a client: 500 units, of which a retry takes 5, and 10 after a timeout.
// The SDK calls such a share of the quota a token. That has nothing to do with our tokens.
func newRetryer() *retry.Standard {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(retryable)}, o.Retryables...)
	})
}

// retries are the retries of one call. Their number has no limit: they end at the context's deadline, or when the
// client's retry quota is used up. The quota is for all calls of the client. So in a long outage each call fails
// at its first attempt. Source: Amazon Builders' Library, "Timeouts, retries, and backoff with jitter".
type retries struct {
	retryer  aws.Retryer
	number   int               // of retries so far
	giveBack func(error) error // returns to the quota what the last retry took; nil before the first retry
}

// wait waits before the retry of an attempt that failed with err. It returns an error if ctx ends or the quota
// is used up.
func (r *retries) wait(ctx context.Context, err error) error {
	r.giveBack, err = r.retryer.GetRetryToken(ctx, err)
	if err != nil {
		return err
	}
	r.number++
	return smithytime.SleepWithContext(ctx, delay(r.number))
}

// succeeded gives the quota back what the last retry took, and adds one unit for the success. giveBack does the first,
// and the function that GetInitialToken returns does the second. Both take the error of the attempt: nil for a success.
// GetInitialToken is deprecated, but an [aws.Retryer] does not have its successor, GetAttemptToken.
func (r *retries) succeeded() {
	if r.giveBack != nil {
		_ = r.giveBack(nil)
	}
	_ = r.retryer.GetInitialToken()(nil)
}

// retryable adds to the SDK's rules: repeat an attempt that got no answer from DynamoDB, whatever the cause, and one
// that conflicted with another write. The SDK gives up in an outage of DNS, for example.
func retryable(err error) aws.Ternary {
	switch {
	case causedBy[*smithyhttp.RequestSendError](err),
		causedBy[*types.TransactionConflictException](err), causedBy[*types.ReplicatedWriteConflictException](err):
		return aws.TrueTernary
	}
	return aws.UnknownTernary // then the SDK's rules decide
}

// causedBy reports whether err is or wraps an E.
func causedBy[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

const (
	firstDelay = 25 * time.Millisecond // the longest delay before the first retry
	maxDelay   = time.Second           // the longest delay before any retry
)

// delay returns how long to wait before a retry: a random time up to a bound that doubles with each retry (full
// jitter).
func delay(retry int) time.Duration {
	bound := min(firstDelay<<min(retry-1, 10), maxDelay)
	return rand.N(bound)
}

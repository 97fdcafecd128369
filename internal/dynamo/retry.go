package dynamo

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/budget"
)

// newRetryer returns the SDK's standard retryer. [call] sets no limit of attempts, so they end at the
// context's deadline, or when the SDK's retry quota is used up. The client keeps the quota across
// operations: a retry takes from it, a success gives back. So in a long outage each operation fails at
// its first attempt. Source: Amazon Builders' Library, "Timeouts, retries, and backoff with jitter".
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
	case causedBy[*smithyhttp.RequestSendError](err),
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
	bound := min(budget.FirstDelay<<min(max(attempt-1, 0), 10), budget.MaxDelay)
	return rand.N(bound), nil
}

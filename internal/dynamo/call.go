package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

type method[In, Out any] func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call makes attempts of m, such as PutItem, until DynamoDB answers one, ctx ends or the client's retry quota is used up.
// If there is no answer, its error is also unavailable: an attempt may have been carried out.
func call[In, Out any](ctx context.Context, client *dynamodb.Client, m method[In, Out], in *In, unavailable error) (*Out, error) {
	out, err := m(client, ctx, in, func(o *dynamodb.Options) {
		shared, _ := o.Retryer.(aws.RetryerV2) // that of newRetryer
		o.Retryer = retryer{shared, ctx}
	})
	if err != nil && (ctx.Err() != nil || client.Options().Retryer.IsErrorRetryable(err)) {
		return nil, fmt.Errorf("%w: %w", unavailable, err)
	}
	return out, err
}

// retryer is the client's retryer, which begins no attempt in the last 100 ms of ctx.
type retryer struct {
	aws.RetryerV2
	ctx context.Context
}

// RetryDelay implements [aws.Retryer]. The call ends with its error in place of err.
func (r retryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	wait, _ := r.RetryerV2.RetryDelay(attempt, err)
	if deadline, ok := r.ctx.Deadline(); ok && time.Until(deadline) < wait+100*time.Millisecond {
		return 0, fmt.Errorf("no time for a retry: %w", err)
	}
	return wait, nil
}

// newRetryer returns the SDK's standard retryer, without a limit of attempts. It also repeats what isRepeated says. Its
// quota of 500 units, of which a retry takes 5, or 10 after a timeout, lets each call of a long outage fail at its first
// attempt. Source: Amazon Builders' Library, "Timeouts, retries, and backoff with jitter".
func newRetryer() aws.Retryer {
	return retry.AddWithMaxAttempts(retry.NewStandard(func(o *retry.StandardOptions) {
		first := []retry.IsErrorRetryable{retry.NoRetryCanceledError{}, retry.IsErrorRetryableFunc(isRepeated)}
		o.Retryables = append(first, o.Retryables...)
		o.Backoff = retry.BackoffDelayerFunc(func(retry int, _ error) (time.Duration, error) { return delay(retry), nil })
	}), 0)
}

// delay returns how long to wait before a retry: a random time up to 25 ms, 50 ms and so on, at most a second.
func delay(retry int) time.Duration {
	bound := 25 * time.Millisecond << min(max(retry-1, 0), 10)
	return rand.N(min(bound, time.Second))
}

// isRepeated repeats every attempt without an answer of DynamoDB, as in an outage of DNS, and every conflict with another
// write. DynamoDB's refusals have the status 4xx, and end in Exception: any other 4xx may come from a proxy.
func isRepeated(err error) aws.Ternary {
	answer, answered := errors.AsType[*smithyhttp.ResponseError](err)
	apiError, isAPIError := errors.AsType[smithy.APIError](err)
	switch {
	case causedBy[*types.TransactionConflictException](err), causedBy[*types.ReplicatedWriteConflictException](err):
		return aws.TrueTernary
	case answered && answer.HTTPStatusCode()/100 == 4 && isAPIError && strings.HasSuffix(apiError.ErrorCode(), "Exception"):
		return aws.UnknownTernary // the SDK knows throttling
	case answered, causedBy[*smithyhttp.RequestSendError](err):
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

func causedBy[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptrace"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Delays between attempts, before jitter.
const (
	minDelay = 20 * time.Millisecond
	maxDelay = 200 * time.Millisecond
)

// retryer repeats without a limit but the deadline of the context.
type retryer struct{ aws.RetryerV2 }

// standard is the SDK's standard retryer, with shorter delays, and extended to
// the failures that the SDK does not repeat. It has no state.
var standard = retryer{retry.NewStandard(func(o *retry.StandardOptions) {
	o.RateLimiter = ratelimit.None
	o.Backoff = retry.BackoffDelayerFunc(delay)
	o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(retryableBesides))
})}

// MaxAttempts returns 0, which means no limit.
func (retryer) MaxAttempts() int { return 0 }

// retryableBesides knows what the SDK does not take for temporary: an answer
// that cannot be read, and a conflict with another write in flight.
func retryableBesides(err error) aws.Ternary {
	var (
		unreadable *smithy.DeserializationError
		conflict   *types.TransactionConflictException
		replicated *types.ReplicatedWriteConflictException
	)
	if errors.As(err, &unreadable) || errors.As(err, &conflict) || errors.As(err, &replicated) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// delay returns a random time between minDelay and a bound that doubles with
// each attempt, up to maxDelay.
func delay(attempt int, _ error) (time.Duration, error) {
	bound := min(minDelay<<min(attempt, 8), maxDelay)
	return minDelay + rand.N(bound-minDelay+1), nil
}

// attempts is the retryer of a single operation. It notes what its attempts tell:
// whether any may have been applied, and why the last one failed.
type attempts struct {
	retryer

	sent    bool  // the running attempt got a connection
	applied bool  // an attempt may have been applied
	last    error // why the last attempt failed
}

func newAttempts() *attempts { return &attempts{retryer: standard} }

// watch returns ctx such that a learns of each attempt whether it was sent.
func (a *attempts) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { a.sent = true },
	})
}

func (a *attempts) option(o *dynamodb.Options) { o.Retryer = a }

// IsErrorRetryable is asked by the SDK about each attempt that failed. An
// attempt that was sent may have been applied, unless DynamoDB refused it: it
// answers 4xx to a request that it did not carry out. What may have been applied
// is repeated, whatever the SDK thinks of it.
func (a *attempts) IsErrorRetryable(err error) bool {
	var answer *smithyhttp.ResponseError
	refused := errors.As(err, &answer) && answer.HTTPStatusCode()/100 == 4
	unknown := a.sent && !refused
	a.sent = false
	a.applied = a.applied || unknown
	if !errors.Is(err, context.DeadlineExceeded) || a.last == nil {
		a.last = err
	}
	return unknown || a.retryer.IsErrorRetryable(err)
}

// outcome translates the error that ended an operation: into unknown if an attempt
// may have been applied, into unavailable if time ran out, since whatever may
// pass was repeated until then.
func (a *attempts) outcome(ctx context.Context, operation string, err, unknown, unavailable error) error {
	if a.last != nil && !errors.Is(err, a.last) {
		err = fmt.Errorf("%w; an attempt: %w", err, a.last)
	}
	switch {
	case a.applied:
		return fmt.Errorf("%w: %s: %w", unknown, operation, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %s: %w", unavailable, operation, err)
	}
	return fmt.Errorf("dynamo: %s: %w", operation, err)
}

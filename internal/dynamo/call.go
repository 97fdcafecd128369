package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
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

// call makes attempts of m, such as PutItem, until one succeeds, DynamoDB refuses one for good, ctx ends or the client's
// retry quota is used up. Its [callError] is about all attempts, where the SDK's error is that of the last.
func call[In, Out any](ctx context.Context, client *dynamodb.Client, m method[In, Out], in *In) (*Out, error) {
	a := &attempts{ctx: ctx}
	out, err := m(client, ctx, in, func(o *dynamodb.Options) {
		a.RetryerV2, _ = o.Retryer.(aws.RetryerV2) // that of newRetryer
		a.client = o.HTTPClient
		o.Retryer, o.HTTPClient = a, a
	})
	if err == nil {
		return out, nil
	}
	failure := &a.failure
	if failure.cause == nil { // it made no attempt
		failure.cause = err
	}
	switch {
	case ctx.Err() != nil:
		failure.giveUp(ctx.Err())
	case a.repeat:
		failure.giveUp(errors.New("the retry quota is used up"))
	}
	return nil, failure
}

// attempts watches the attempts of one call, as the SDK's HTTP client and its retryer.
type attempts struct {
	aws.RetryerV2 // the client's, whose quota all calls share
	ctx           context.Context
	client        dynamodb.HTTPClient
	connected     bool // the current attempt got a connection: without one, DynamoDB received nothing
	repeat        bool // the last attempt may be repeated
	failure       callError
}

// Do implements [dynamodb.HTTPClient]. A trace in the context of the call would also see the connections by which the SDK
// gets credentials.
func (a *attempts) Do(r *http.Request) (*http.Response, error) {
	// The HTTP client calls GotConn before it sends the request, in the goroutine that called it.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.connected = true }}
	return a.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
}

// IsErrorRetryable implements [aws.Retryer]. The SDK calls it once after each attempt that failed.
func (a *attempts) IsErrorRetryable(err error) bool {
	mayBeApplied := a.connected && !isRefusal(err)
	a.connected = false
	a.failure.mayBeApplied = a.failure.mayBeApplied || mayBeApplied
	if a.failure.cause == nil || !errors.Is(err, context.DeadlineExceeded) { // a timeout says less than what came before
		a.failure.cause = err
	}
	a.repeat = a.ctx.Err() == nil && (mayBeApplied || a.RetryerV2.IsErrorRetryable(err))
	return a.repeat
}

// RetryDelay implements [aws.Retryer]. In the last 100 ms of ctx no attempt begins, because it could be cut off, and its
// outcome would be unknown: the call waits for the end.
func (a *attempts) RetryDelay(attempt int, _ error) (time.Duration, error) {
	wait := delay(attempt)
	if deadline, ok := a.ctx.Deadline(); ok && time.Until(deadline) < wait+100*time.Millisecond {
		return time.Hour, nil
	}
	return wait, nil
}

// MaxAttempts implements [aws.Retryer]: there is no limit.
func (*attempts) MaxAttempts() int { return 0 }

// isRefusal reports whether DynamoDB refused an attempt: the status is 4xx, and the error is of a type that the SDK has, or
// ends in Exception, such as AccessDeniedException. Any other 4xx may come from a proxy, after DynamoDB applied it.
func isRefusal(err error) bool {
	answer, answered := errors.AsType[*smithyhttp.ResponseError](err)
	apiError, isAPIError := errors.AsType[smithy.APIError](err)
	if !answered || answer.HTTPStatusCode()/100 != 4 || !isAPIError {
		return false
	}
	_, isGeneric := apiError.(*smithy.GenericAPIError)
	return !isGeneric || strings.HasSuffix(apiError.ErrorCode(), "Exception")
}

type callError struct {
	mayBeApplied bool // DynamoDB may have carried out one of the attempts
	temporary    bool // a later call may succeed
	cause        error
}

func (e *callError) Error() string { return "dynamo: " + e.cause.Error() }

func (e *callError) Unwrap() error { return e.cause }

// giveUp records why there is no further attempt.
func (e *callError) giveUp(reason error) {
	e.temporary = true
	e.cause = fmt.Errorf("%w; an attempt: %w", reason, e.cause)
}

// translate returns what a store reports for an error of [call].
func translate(err, unknown, unavailable error) error {
	failure, ok := errors.AsType[*callError](err)
	switch {
	case ok && failure.mayBeApplied:
		return fmt.Errorf("%w: %w", unknown, err)
	case ok && failure.temporary:
		return fmt.Errorf("%w: %w", unavailable, err)
	}
	return err
}

// newRetryer returns the SDK's standard retryer, which also repeats every attempt that got no answer, as in an outage of
// DNS, and every conflict with another write. Its quota of 500 units, of which a retry takes 5, or 10 after a timeout,
// lets each call of a long outage fail at its first attempt. Source: Amazon Builders' Library, "Timeouts, retries, and
// backoff with jitter".
func newRetryer() *retry.Standard {
	repeated := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
		if causedBy[*smithyhttp.RequestSendError](err) ||
			causedBy[*types.TransactionConflictException](err) || causedBy[*types.ReplicatedWriteConflictException](err) {
			return aws.TrueTernary
		}
		return aws.UnknownTernary
	})
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = append([]retry.IsErrorRetryable{repeated}, o.Retryables...)
	})
}

// delay returns how long to wait before a retry: a random time up to 25 ms, 50 ms and so on, at most a second.
func delay(retry int) time.Duration {
	bound := 25 * time.Millisecond << min(max(retry-1, 0), 10)
	return rand.N(min(bound, time.Second))
}

func causedBy[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

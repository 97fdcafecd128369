package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// method is a method of the SDK's client, such as PutItem.
type method[In, Out any] func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call makes attempts of a method until one succeeds, DynamoDB refuses one for good, ctx ends or the client's retry
// quota is used up. A throttled attempt is refused too, but not for good: it is repeated. The error of call is a
// [*callError].
//
// The SDK has such a loop too. It returns only the last error, which does not show whether an earlier
// attempt was applied.
func call[In, Out any](ctx context.Context, client *dynamodb.Client, m method[In, Out], in *In) (*Out, error) {
	r := retries{retryer: client.Options().Retryer}
	failure := new(callError)
	for {
		out, connected, err := attempt(ctx, client, m, in)
		if err == nil {
			r.succeeded()
			return out, nil
		}
		mayBeApplied := connected && !isRefusal(err)
		failure.add(err, mayBeApplied)
		if ctx.Err() != nil {
			return nil, failure.giveUp(ctx.Err())
		}
		if !mayBeApplied && !r.retryer.IsErrorRetryable(err) { // refused for good, or never sent, for a reason that stays
			return nil, failure
		}
		if reason := r.wait(ctx, err); reason != nil {
			return nil, failure.giveUp(reason)
		}
	}
}

// attempt makes one attempt. connected reports whether it got a connection to DynamoDB, a new one or one that
// was idle: without one, DynamoDB received nothing.
func attempt[In, Out any](
	ctx context.Context, client *dynamodb.Client, m method[In, Out], in *In,
) (out *Out, connected bool, err error) {
	watch := new(watched)
	out, err = m(client, ctx, in, func(o *dynamodb.Options) {
		// If an answer shows that the clock is wrong, the SDK makes its error retryable, and signs the next attempt
		// with the time of DynamoDB. It does so even if this is the only attempt that it makes itself.
		o.Retryer = aws.NopRetryer{} // one attempt: call repeats it
		watch.client = o.HTTPClient
		o.HTTPClient = watch
	})
	return out, watch.connected, err
}

// watched is an HTTP client that notes whether it got a connection to DynamoDB. A trace in the context of the whole
// attempt would also note the connections by which the SDK gets credentials in plantstore, perhaps in another
// goroutine. A function has its credentials already.
type watched struct {
	client    dynamodb.HTTPClient
	connected bool
}

// Do implements [dynamodb.HTTPClient].
func (w *watched) Do(r *http.Request) (*http.Response, error) {
	// The HTTP client calls GotConn before it sends the request, in the goroutine that called it.
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { w.connected = true }}
	return w.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
}

// isRefusal reports whether err is DynamoDB's refusal to carry an attempt out. DynamoDB refused if the status is 4xx
// and the error is one of its own: of a type that the SDK has, or generic with a code that ends in Exception, such as
// AccessDeniedException. Any other 4xx may come from a proxy, after DynamoDB has carried the attempt out.
func isRefusal(err error) bool {
	answer, answered := errors.AsType[*smithyhttp.ResponseError](err)
	apiError, isAPIError := errors.AsType[smithy.APIError](err)
	if !answered || answer.HTTPStatusCode()/100 != 4 || !isAPIError {
		return false
	}
	_, isGeneric := apiError.(*smithy.GenericAPIError)
	return !isGeneric || strings.HasSuffix(apiError.ErrorCode(), "Exception")
}

// callError is why a [call] failed. A store reports it by [translate].
type callError struct {
	mayBeApplied bool // one of the attempts got a connection, and its outcome is unknown
	temporary    bool // a later call may succeed
	cause        error
}

func (e *callError) Error() string { return "dynamo: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.cause }

// add adds an attempt that failed with err. A timeout does not replace an earlier, more precise cause.
func (e *callError) add(err error, mayBeApplied bool) {
	e.mayBeApplied = e.mayBeApplied || mayBeApplied
	if e.cause == nil || !errors.Is(err, context.DeadlineExceeded) {
		e.cause = err
	}
}

// giveUp records why there is no further attempt, although one may succeed. It returns e.
func (e *callError) giveUp(reason error) *callError {
	e.temporary = true
	e.cause = fmt.Errorf("%w; an attempt: %w", reason, e.cause)
	return e
}

// translate returns what a store reports for err, which is an error of [call] or nil: unknown if an attempt may have
// been applied, unavailable if none was and a later call may succeed, and otherwise err unchanged, so nil for nil.
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

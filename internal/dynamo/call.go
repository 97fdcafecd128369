package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// operation is a method of the client that calls DynamoDB once, such as PutItem.
type operation[In, Out any] func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call repeats an operation until an attempt succeeds, DynamoDB refuses it, ctx ends or the client's retry
// quota is used up. Its error is a [*callError].
//
// The SDK has such a loop too. It returns only the last error, which does not show whether an earlier
// attempt was applied.
func call[In, Out any](ctx context.Context, client *dynamodb.Client, o operation[In, Out], in *In) (*Out, error) {
	retries := retries{client: client.Options().Retryer}
	failure := new(callError)
	for {
		out, connected, err := attempt(ctx, client, o, in)
		if err == nil {
			retries.succeeded()
			return out, nil
		}
		mayBeApplied := connected && !refused(err)
		failure.add(err, mayBeApplied, retries.mayHelp(ctx, err))
		if !failure.Temporary {
			return nil, failure
		}
		if err := retries.wait(ctx, err); err != nil {
			failure.Cause = fmt.Errorf("%w; an attempt: %w", err, failure.Cause)
			return nil, failure
		}
	}
}

// attempt makes one attempt. connected reports whether it got a connection: without one, DynamoDB received
// nothing.
func attempt[In, Out any](
	ctx context.Context, client *dynamodb.Client, o operation[In, Out], in *In,
) (out *Out, connected bool, err error) {
	var c connection
	out, err = o(client, c.trace(ctx), in, withoutRetries)
	return out, c.open, err
}

// withoutRetries is an option of an operation. The SDK still corrects its clock by an answer: it signs the
// next attempt with the time of DynamoDB.
func withoutRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// connection records whether an attempt got a connection, a new one or one that was idle.
type connection struct{ open bool }

// trace returns a context for the attempt. The HTTP client calls GotConn before it sends the request, in the
// goroutine that called it.
func (c *connection) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { c.open = true },
	})
}

// refused reports whether err is DynamoDB's refusal to carry an attempt out: a status 4xx with one of
// its errors. The SDK has types for those of the operation's model. The names of all others, such as
// AccessDeniedException, end in Exception.
func refused(err error) bool {
	answer, answered := errors.AsType[*smithyhttp.ResponseError](err)
	named, isNamed := errors.AsType[smithy.APIError](err)
	if !answered || answer.HTTPStatusCode()/100 != 4 || !isNamed {
		return false
	}
	_, isOther := named.(*smithy.GenericAPIError)
	return !isOther || strings.HasSuffix(named.ErrorCode(), "Exception")
}

// callError is why an operation of DynamoDB failed. A store reports it by [translate].
type callError struct {
	MayBeApplied bool // one of the attempts got a connection, and its outcome is unknown
	Temporary    bool // another attempt may succeed
	Cause        error
}

func (e *callError) Error() string { return "dynamo: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.Cause }

// add adds an attempt that failed with err. One that may have been applied is worth another attempt, which
// shows its outcome. As the cause, a timeout says less than what came before it.
func (e *callError) add(err error, mayBeApplied, retryMayHelp bool) {
	e.MayBeApplied = e.MayBeApplied || mayBeApplied
	e.Temporary = mayBeApplied || retryMayHelp
	if e.Cause == nil || !errors.Is(err, context.DeadlineExceeded) {
		e.Cause = err
	}
}

// translate returns err, an error of [call], as a store reports it: as unknown if the operation may have been
// applied, as unavailable if it was not and a later retry may succeed, and unchanged otherwise.
func translate(err, unknown, unavailable error) error {
	failure, ok := errors.AsType[*callError](err)
	switch {
	case ok && failure.MayBeApplied:
		return fmt.Errorf("%w: %w", unknown, err)
	case ok && failure.Temporary:
		return fmt.Errorf("%w: %w", unavailable, err)
	}
	return err
}

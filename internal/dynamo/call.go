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

// callError is why an operation of DynamoDB failed. A store reports it by [translate].
type callError struct {
	MayBeApplied bool // an attempt reached DynamoDB, and its outcome is unknown
	Temporary    bool // a later retry may succeed
	Cause        error
}

func (e *callError) Error() string { return "dynamo: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *callError) Unwrap() error { return e.Cause }

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

// call calls an operation of the SDK, and repeats it until an attempt succeeds, DynamoDB refuses it, ctx
// ends or the client's retry quota is used up. Its error is an [*callError].
func call[In, Out any](
	ctx context.Context, operation func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In,
) (*Out, error) {
	var a attempts
	out, err := operation(a.trace(ctx), in, a.replaceRetryer)
	if err == nil {
		return out, nil
	}
	if a.last != nil && !errors.Is(err, a.last) {
		err = fmt.Errorf("%w; an attempt: %w", err, a.last)
	}
	return nil, &callError{MayBeApplied: a.mayBeApplied, Temporary: a.temporary || ctx.Err() != nil, Cause: err}
}

// attempts records the attempts of one operation. The SDK returns only the last error, which does not show
// whether an earlier attempt was applied.
//
// It belongs to one [call], in whose goroutine the SDK makes the attempts. replaceRetryer sets Retryer
// before the first attempt. During an attempt, GotConn of trace sets connected. After each attempt that
// failed, IsErrorRetryable resets connected, and records the attempt in the other fields. call reads them
// when the operation has ended.
type attempts struct {
	aws.Retryer // the client's, which decides on delays and keeps the quota

	connected    bool  // the running attempt got a connection
	mayBeApplied bool  // one of the attempts may have been applied
	temporary    bool  // the last failure is worth a retry
	last         error // the last failure that was no timeout
}

// replaceRetryer is an option of an operation, which makes a its retryer.
func (a *attempts) replaceRetryer(o *dynamodb.Options) {
	a.Retryer = o.Retryer
	o.Retryer = a
}

// trace returns a context that records when an attempt gets a connection.
func (a *attempts) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { a.connected = true },
	})
}

// MaxAttempts returns 0, which means no limit.
func (*attempts) MaxAttempts() int { return 0 }

// IsErrorRetryable is called by the SDK once after each attempt that failed, so it also records the
// attempt. One that got a connection may have been applied, unless DynamoDB refused it. Such an attempt is
// repeated even if the SDK would not.
func (a *attempts) IsErrorRetryable(err error) bool {
	mayBeApplied := a.connected && !refused(err)
	a.connected = false
	a.mayBeApplied = a.mayBeApplied || mayBeApplied
	a.temporary = mayBeApplied || a.Retryer.IsErrorRetryable(err)
	if !errors.Is(err, context.DeadlineExceeded) {
		a.last = err
	}
	return a.temporary
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

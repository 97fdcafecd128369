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

// Error is why an operation of DynamoDB failed. Each store translates it into the errors of its domain.
type Error struct {
	MayBeApplied bool // an attempt reached DynamoDB, and its outcome is unknown
	Temporary    bool // a later retry may succeed
	Cause        error
}

func (e *Error) Error() string { return "dynamo: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// call calls an operation of the SDK. Its error is an [*Error].
func call[In, Out any](
	ctx context.Context, operation func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In,
) (*Out, error) {
	var a attempts
	connected := func(httptrace.GotConnInfo) { a.connected = true }
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
	return nil, &Error{MayBeApplied: a.mayBeApplied, Temporary: a.temporary || ctx.Err() != nil, Cause: err}
}

// attempts is the retryer of a single operation. It records what may have happened.
type attempts struct {
	aws.RetryerV2

	connected    bool  // the running attempt got a connection
	mayBeApplied bool  // an attempt may have been applied
	temporary    bool  // the last failure is worth a retry
	last         error // why the last attempt failed; a timeout keeps an earlier cause
}

// MaxAttempts returns 0, which means no limit.
func (*attempts) MaxAttempts() int { return 0 }

// IsErrorRetryable is called by the SDK after each attempt that failed. An attempt that got a
// connection may have been applied, unless DynamoDB refused it. It is repeated even if the SDK would not.
func (a *attempts) IsErrorRetryable(err error) bool {
	unknown := a.connected && !refused(err)
	a.connected = false
	a.mayBeApplied = a.mayBeApplied || unknown
	a.temporary = unknown || a.RetryerV2.IsErrorRetryable(err)
	if !errors.Is(err, context.DeadlineExceeded) || a.last == nil {
		a.last = err
	}
	return a.temporary
}

// refused reports whether err is DynamoDB's refusal to carry an attempt out: a status 4xx that names an
// error. The names of DynamoDB's refusals end in Exception.
func refused(err error) bool {
	answer, answered := errors.AsType[*smithyhttp.ResponseError](err)
	named, ok := errors.AsType[smithy.APIError](err)
	return answered && answer.HTTPStatusCode()/100 == 4 && ok && strings.HasSuffix(named.ErrorCode(), "Exception")
}

package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The delay before another attempt is random, between zero and a limit that doubles each time. Source: Amazon Builders'
// Library, "Timeouts, retries, and backoff with jitter".
const (
	firstDelayLimit = 25 * time.Millisecond
	maxDelayLimit   = time.Second
)

// withRetries makes attempts until one succeeds or is refused for good, or until ctx ends or retryer's quota is used up.
// In the last two cases, the error wraps unavailable, and names the last failure and why there was no further attempt. A
// failed attempt may have taken effect.
//
// The SDK's own retries would do less: they lose the cause when ctx ends, give up if a host is unknown, and do not refund
// the quota for a retry that finds the item of an earlier attempt.
func withRetries[Out any](
	ctx context.Context, retryer aws.RetryerV2, unavailable error, attempt func() (Out, error),
) (Out, error) {
	release, _ := retryer.GetAttemptToken(ctx) // the standard retryer returns no error
	var previous error
	for limit := firstDelayLimit; ; limit = min(2*limit, maxDelayLimit) {
		out, err := attempt()
		if err == nil || isFinal(ctx, retryer, err) {
			_ = release(nil) // any final answer refills the quota
			return out, err
		}
		var stop error
		release, stop = retryer.GetRetryToken(ctx, err) // fails without a quota, or once ctx has ended
		if ctx.Err() != nil {
			// It probably cut this attempt off, so the one before shows the cause.
			err, stop = cmp.Or(previous, err), ctx.Err()
		}
		if stop != nil {
			// A failed attempt is only text here, so that nobody takes it for DynamoDB's answer.
			return out, fmt.Errorf("%w: %s; %s", unavailable, err.Error(), stop.Error())
		}
		previous = err
		select {
		case <-ctx.Done(): // the next attempt fails at once
		case <-time.After(rand.N(limit)):
		}
	}
}

// isFinal reports whether another attempt is pointless, because DynamoDB refused the request, or the SDK failed before
// sending it.
func isFinal(ctx context.Context, retryer aws.RetryerV2, err error) bool {
	if retryer.IsErrorRetryable(err) {
		return false
	}
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return isRefusal(answer.ErrorCode(), answer.ErrorMessage())
	}
	_, sent := errors.AsType[*smithyhttp.ResponseError](err) // wraps even the error of a broken connection
	return !sent && ctx.Err() == nil
}

// isRefusal reports whether an error that the SDK would not retry is DynamoDB's and concerns the request, not the moment.
func isRefusal(code, message string) bool {
	switch code {
	case "TransactionConflictException", "ReplicatedWriteConflictException":
		return false
	case "InvalidSignatureException": // Lambda may have frozen the function after it signed the request
		return !strings.HasPrefix(message, "Signature expired")
	}
	// The names of DynamoDB's refusals end in Exception. Any other error may have been cut off, or come from a proxy.
	return strings.HasSuffix(code, "Exception")
}

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math"
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

	// Another attempt needs at least this much time: 100 ms, plus 10 because timers fire late.
	minAttempt = 110 * time.Millisecond
)

// withRetries makes attempts until one succeeds or is refused for good, or until the deadline of ctx is near or retryer's
// quota is used up. In the last two cases, the error wraps unavailable. A failed attempt may have taken effect.
func withRetries[Out any](
	ctx context.Context, retryer aws.RetryerV2, unavailable error, attempt func() (Out, error),
) (Out, error) {
	var none Out
	release, err := retryer.GetAttemptToken(ctx)
	if err != nil {
		return none, fmt.Errorf("%w: %w", unavailable, err)
	}
	var previous error
	for limit := firstDelayLimit; ; limit = min(2*limit, maxDelayLimit) {
		out, err := attempt()
		if err == nil || isFinal(ctx, retryer, err) {
			_ = release(nil) // any final answer refills the quota
			return out, err
		}
		if ctx.Err() != nil { // the attempt was cut off, and only the previous error names the cause
			return none, fmt.Errorf("%w: %w", unavailable, errors.Join(err, previous))
		}
		maxDelay := timeLeft(ctx) - minAttempt
		if maxDelay <= 0 {
			return none, fmt.Errorf("%w: %w", unavailable, err)
		}
		nextRelease, quotaErr := retryer.GetRetryToken(ctx, err)
		if quotaErr != nil {
			return none, fmt.Errorf("%w: %w", unavailable, errors.Join(err, quotaErr))
		}
		release, previous = nextRelease, err
		select {
		case <-ctx.Done():
			return none, fmt.Errorf("%w: %w", unavailable, errors.Join(ctx.Err(), err))
		case <-time.After(min(rand.N(limit), maxDelay)):
		}
	}
}

func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return math.MaxInt64
	}
	return time.Until(deadline)
}

// isFinal reports whether another attempt is pointless, because DynamoDB refused the request, or the SDK failed before
// sending it.
func isFinal(ctx context.Context, retryer aws.RetryerV2, err error) bool {
	if retryer.IsErrorRetryable(err) {
		return false
	}
	// The names of DynamoDB's refusals end in Exception. Any other answer may have been cut off, or come from a proxy.
	apiError, ok := errors.AsType[smithy.APIError](err)
	if ok && strings.HasSuffix(apiError.ErrorCode(), "Exception") {
		return true
	}
	_, sent := errors.AsType[*smithyhttp.ResponseError](err) // wraps even the error of a broken connection
	return !sent && ctx.Err() == nil
}

// Package api answers the two Lambda events of the service: [CreatePlant] that
// of POST /plants, and [Authorizer] that of the Lambda authorizer before it.
//
// It promises that every answer is the specification's: 200 with a Plant or 400
// with an Error of the catalogue, whatever comes in and whatever fails. What
// fails is logged, one line a request, without a token, a header or a body.
//
// Both handlers work on the bytes of the event and have the Invoke method of
// aws-lambda-go's Handler, so that package main hands them over as they are.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// margin is how long before the deadline of its invocation a handler stops
// waiting, so that there is time to answer.
const margin = 500 * time.Millisecond

// guard returns what f returns, and a panic of f as an error. It gives f the
// context with the deadline less the margin.
func guard[T any](ctx context.Context, f func(context.Context) (T, error)) (value T, err error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("api: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f(ctx)
}

// record is what the log line of a request says.
type record struct {
	requestID, subject, tokenID string
	duration                    time.Duration
	err                         error
}

// log writes the one line of a request. Its code is that of the answer, and 0
// for success. The text of an error is logged where it is about the service and
// not about the request.
func (r record) log(ctx context.Context, logger *slog.Logger, message string) {
	code := outcomeOf(r.err).Code
	attributes := []slog.Attr{
		slog.String("request_id", r.requestID),
		slog.Int("code", int(code)),
		slog.String("subject", r.subject),
		slog.String("token_id", r.tokenID),
		slog.Float64("duration_ms", float64(r.duration.Microseconds())/1000),
	}
	level := slog.LevelInfo
	if code >= internalError.Code {
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", r.err.Error()))
	}
	logger.LogAttrs(ctx, level, message, attributes...)
}

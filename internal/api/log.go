package api

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"plantstore/internal/token"
)

// level returns the level of a request's line.
func (o outcome) level() slog.Level {
	if o.isServiceFault() {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// attributes returns the attributes of the log line of a request. The code is that of the outcome, and 0 for a
// success. It is also that of the answer, with one exception: after an internal error of its check, the authorizer
// logs 5001, and the function answers 5003. The authorizer's line of an invalid token has the reason, which the
// function does not know. The text of an error is logged if the fault is the service's.
func (o outcome) attributes(ctx context.Context, r request, took time.Duration) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("request_id", r.RequestContext.RequestID), // of API Gateway
		lambdaRequestID(ctx),
		slog.Int("code", int(o.code)),
		slog.String("subject", r.principal.Subject),
		slog.String("token_id", r.principal.TokenID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if reason, ok := errors.AsType[token.Reason](o.err); ok {
		attributes = append(attributes, slog.String("reason", string(reason)))
	}
	if o.isServiceFault() {
		attributes = append(attributes, slog.String("error", o.err.Error()))
	}
	return attributes
}

// lambdaRequestID returns Lambda's id of the invocation, which the lines of Lambda itself have, such as that of a
// timeout. Outside Lambda there is none: slog leaves out an attribute that is zero.
func lambdaRequestID(ctx context.Context) slog.Attr {
	invocation, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return slog.Attr{}
	}
	return slog.String("lambda_request_id", invocation.AwsRequestID)
}

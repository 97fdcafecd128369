package api

import (
	"errors"
	"log/slog"
	"time"

	"plantstore/internal/token"
)

// level returns the level of a request's line: ERROR if the fault is the service's.
func (o outcome) level() slog.Level {
	if o.code >= internalError.code {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// attributes returns what the one line of a request has in the log. The code is that of the answer, and
// 0 for a success. The line of an invalid token has the reason. The text of an error is logged if the
// error is the service's and not the request's.
func (o outcome) attributes(r request, took time.Duration) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("request_id", r.RequestContext.RequestID),
		slog.Int("code", int(o.code)),
		slog.String("subject", r.principal.Subject),
		slog.String("token_id", r.principal.TokenID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if reason, ok := errors.AsType[token.Reason](o.err); ok {
		attributes = append(attributes, slog.String("reason", string(reason)))
	}
	if o.code >= internalError.code {
		attributes = append(attributes, slog.String("error", o.err.Error()))
	}
	return attributes
}

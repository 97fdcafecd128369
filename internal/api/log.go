package api

import (
	"context"
	"log/slog"
	"time"
)

// log writes the one line of a request. Its code is that of the answer, and 0
// for success. The text of an error is logged if the error is the service's and
// not the request's.
func (r *request) log(ctx context.Context, log *slog.Logger, message string, took time.Duration, err error) {
	code := classify(err).Code
	attributes := []slog.Attr{
		slog.String("request_id", r.RequestContext.RequestID),
		slog.Int("code", int(code)),
		slog.String("subject", r.principal.Subject),
		slog.String("token_id", r.principal.TokenID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	level := slog.LevelInfo
	if code >= internalError.Code {
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", err.Error()))
	}
	log.LogAttrs(ctx, level, message, attributes...)
}

package api

import (
	"context"
	"log/slog"
	"time"
)

// record is what the log line of a request holds.
type record struct {
	requestID, subject, tokenID string
	duration                    time.Duration
	err                         error
}

// log writes the one line of a request. Its code is that of the answer, and 0
// for success. The text of an error is logged if the error is the service's and
// not the request's.
func (r record) log(ctx context.Context, logger *slog.Logger, message string) {
	code := classify(r.err).Code
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

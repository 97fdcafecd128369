// Package lambdalog makes the log lines of a Lambda function. It adds what joins
// them to Lambda's own lines, to a trace and to a deployment, and what Lambda's
// REPORT line tells about a start.
package lambdalog

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// New returns a logger that writes JSON lines to w, with the attribute build unless
// it is empty.
func New(w io.Writer, build string) *slog.Logger {
	log := slog.New(slog.NewJSONHandler(w, nil))
	if build == "" {
		return log
	}
	return log.With("build", build)
}

// ForInvocations returns log for the lines of invocations. They have a timestamp
// where Lambda looks for it, so that it adds none: see Lambda Developer Guide,
// "Log-level filtering". They have Lambda's request id and, if X-Ray samples the
// request, the trace id. The first line also
// has cold_start, the milliseconds from started until now, which is the function's
// own part of its initialization, and the most memory used so far, in MiB.
func ForInvocations(log *slog.Logger, started time.Time) *slog.Logger {
	return slog.New(&handler{Handler: log.Handler(), initialization: time.Since(started)})
}

type handler struct {
	slog.Handler
	initialization time.Duration
	warm           atomic.Bool // the first line was logged
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, line slog.Record) error {
	line.AddAttrs(slog.Time("timestamp", line.Time))
	line.Time = time.Time{} // slog leaves out a zero time
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		line.AddAttrs(slog.String("lambda_request_id", invocation.AwsRequestID))
	}
	// The form is Root=ID;Parent=ID;Sampled=1. Source: AWS X-Ray Developer Guide,
	// "Tracing header".
	if trace, _ := ctx.Value("x-amzn-trace-id").(string); strings.Contains(trace, "Sampled=1") {
		_, root, _ := strings.Cut(trace, "Root=")
		root, _, _ = strings.Cut(root, ";")
		line.AddAttrs(slog.String("trace_id", root))
	}
	if !h.warm.Swap(true) {
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // 0 if unknown
		line.AddAttrs(slog.Bool("cold_start", true),
			slog.Float64("init_ms", float64(h.initialization.Microseconds())/1000),
			slog.Int64("memory_mb", usage.Maxrss/1024)) // Linux counts in KiB
	}
	return h.Handler.Handle(ctx, line)
}

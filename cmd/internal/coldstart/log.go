package coldstart

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

// newLog returns a logger that writes JSON lines to w, with the attribute build unless it is empty.
func newLog(w io.Writer, build string) *slog.Logger {
	log := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: renameTime}))
	if build == "" {
		return log
	}
	return log.With("build", build)
}

// renameTime names the time of a line as Lambda does, which otherwise adds a time of its own. Source:
// Lambda Developer Guide, "Log-level filtering".
func renameTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Key = "timestamp"
	}
	return a
}

// forInvocations returns a logger for invocations. To the lines of log it adds Lambda's request id
// and, if X-Ray samples the request, the trace id. To the first line it adds cold_start, init_ms,
// which is the time from started to this call, and memory_mb, the most memory used so far, in MiB.
func forInvocations(log *slog.Logger, started time.Time) *slog.Logger {
	return slog.New(invocations{Handler: log.Handler(), initialization: time.Since(started), warm: new(atomic.Bool)})
}

type invocations struct {
	slog.Handler
	initialization time.Duration
	warm           *atomic.Bool // the first line was logged
}

// WithAttrs implements [slog.Handler].
func (h invocations) WithAttrs(attributes []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attributes)
	return h
}

// WithGroup implements [slog.Handler].
func (h invocations) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// Enabled implements [slog.Handler]. The first line is always logged: it has the cost of the start.
func (h invocations) Enabled(ctx context.Context, level slog.Level) bool {
	return !h.warm.Load() || h.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h invocations) Handle(ctx context.Context, line slog.Record) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		line.AddAttrs(slog.String("lambda_request_id", invocation.AwsRequestID))
	}
	// The form is Root=ID;Parent=ID;Sampled=1. Source: AWS X-Ray Developer Guide, "Tracing header".
	if trace, _ := ctx.Value("x-amzn-trace-id").(string); strings.Contains(trace, "Sampled=1") {
		_, root, _ := strings.Cut(trace, "Root=")
		root, _, _ = strings.Cut(root, ";")
		line.AddAttrs(slog.String("trace_id", root))
	}
	if !h.warm.Swap(true) {
		line.Level = max(line.Level, slog.LevelInfo) // Lambda drops lines of DEBUG
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // 0 if unknown
		line.AddAttrs(slog.Bool("cold_start", true),
			slog.Float64("init_ms", float64(h.initialization.Microseconds())/1000),
			slog.Int64("memory_mb", usage.Maxrss/1024)) // Linux counts in KiB
	}
	return h.Handler.Handle(ctx, line)
}

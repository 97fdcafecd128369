package api

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// The budgets are how long a handler waits for the store. createplant answers within 3 s, the authorizer
// within 2 s. A longer wait would only occupy an execution: the client can repeat the request.
const (
	createBudget    = 2700 * time.Millisecond
	authorizeBudget = 1700 * time.Millisecond
)

// margin is how long before its deadline an invocation stops waiting, so that there is time to answer.
const margin = 500 * time.Millisecond

// guard calls f with a context that ends with the budget, or with the deadline of ctx less the
// margin if that is sooner. It returns a panic of f as an error.
func guard(ctx context.Context, budget time.Duration, f func(context.Context) error) (err error) {
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)-margin)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("api: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f(ctx)
}

// log writes the one line of a request. Its code is that of the answer, and 0 for success. The text
// of an error is logged if the error is the service's and not the request's.
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

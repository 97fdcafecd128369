package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// margin is how long before the deadline of its invocation a handler stops
// waiting, so that there is time to answer.
const margin = 500 * time.Millisecond

// guard calls f with the deadline of ctx less the margin. It returns what f
// returns, and a panic of f as an error.
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

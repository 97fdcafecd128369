package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// The budgets are how long a handler waits for the store. createplant answers
// within 3 s and the authorizer within 2 s. A client holds a key with which it can
// repeat the request, so a longer wait would only hold on to an execution.
const (
	createBudget    = 2700 * time.Millisecond
	authorizeBudget = 1700 * time.Millisecond
)

// margin is how long before the deadline of its invocation a handler stops
// waiting, so that there is time to answer.
const margin = 500 * time.Millisecond

// guard calls f with a context that ends with the budget, or with the deadline of
// ctx less the margin if that is sooner. It returns what f returns, and a panic of
// f as an error.
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

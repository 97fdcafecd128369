package api

import (
	"context"
	"time"
)

// The budgets are how long a function waits for its store. An operation answers within 3 s, the authorizer
// within 2 s. A longer wait would only occupy an execution: the client can repeat the request.
const (
	serviceBudget   = 2700 * time.Millisecond
	authorizeBudget = 1700 * time.Millisecond
)

// margin is how long before its deadline an invocation stops waiting, so that there is time to answer.
const margin = 500 * time.Millisecond

// withBudget returns a context that ends with the budget, or with the deadline of ctx less the margin
// if that is sooner.
func withBudget(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Until(deadline)-margin)
	}
	return context.WithTimeout(ctx, budget)
}

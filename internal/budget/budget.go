// Package budget has the times that limit a request. Two functions handle it: first the authorizer, then that of the
// operation. A longer wait would only occupy executions of Lambda: the client can repeat the request. The WriteTimeout
// of cmd/plantstore, and figures in docs/architecture.md, follow from these times.
package budget

import "time"

// AttemptTimeout limits one request to DynamoDB, which answers in single milliseconds. Two that hang leave time for a
// third within AuthorizerWait. The SDK alone would wait forever for an answer.
const AttemptTimeout = 700 * time.Millisecond

// A function answers when its Wait is over, from the event on. Lambda stops it at its Timeout, which template.yaml has
// too. API Gateway would wait for 30 s, and 10 s for the authorizer.
const (
	OperationWait    = 2700 * time.Millisecond
	OperationTimeout = 4 * time.Second

	AuthorizerWait    = 1700 * time.Millisecond
	AuthorizerTimeout = 3 * time.Second
)

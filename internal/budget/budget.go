// Package budget has the times that limit a request. Two functions handle a request: first the authorizer, then
// the function of the operation, such as creating a plant. Each has these times, the shortest first:
//
//   - one attempt, which is one request to DynamoDB: [AttemptTimeout]
//   - the function's own work and all attempts together: [OperationWait], [AuthorizerWait]
//   - until Lambda stops the function: [OperationTimeout], [AuthorizerTimeout]
//   - until API Gateway answers in place of the function: 30 s for an operation, 10 s for the authorizer
//
// A longer wait would only occupy one of the executions that Lambda allows at once: the client can repeat
// the request. The WriteTimeout of cmd/plantstore, and figures in
// docs/architecture.md, follow from these times.
package budget

import "time"

// AttemptTimeout limits one attempt of a function, from dialing to the last byte of the answer. DynamoDB
// answers in single milliseconds. Two attempts that hang leave time for a third within the authorizer's
// wait. The SDK alone would wait 30 s for a connection, and forever for an answer.
const AttemptTimeout = 700 * time.Millisecond

// A function stops waiting for its store when its Wait is over. The Wait begins with the event, so decoding
// the event counts too. The function then answers at once. If it does not, Lambda stops it at its Timeout,
// which template.yaml has too, and counts the invocation as an error.
const (
	OperationWait    = 2700 * time.Millisecond
	OperationTimeout = 4 * time.Second

	AuthorizerWait    = 1700 * time.Millisecond
	AuthorizerTimeout = 3 * time.Second
)

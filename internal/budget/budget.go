// Package budget has the times that bound a request. In each function, every time is shorter than the next:
//   - Attempt: one attempt to call DynamoDB
//   - Wait: all attempts together
//   - Answer: until the function answers
//   - Timeout: until Lambda stops the function
//   - API Gateway's own: 10 s for the authorizer, 30 s for an operation
//
// A longer wait would only occupy an execution: the client can repeat the request. The WriteTimeout of
// cmd/plantstore, and figures in docs/reliability.md and docs/emergencies.md, follow from these times.
package budget

import "time"

const (
	operationAnswer  = 3 * time.Second
	authorizerAnswer = 2 * time.Second
	reserve          = 300 * time.Millisecond // of both, to answer after the wait
)

// A function waits for its store. Then it answers, a second before the timeout that it has in
// template.yaml: Lambda counts an invocation that it stops as an error.
const (
	OperationWait     = operationAnswer - reserve
	AuthorizerWait    = authorizerAnswer - reserve
	OperationTimeout  = operationAnswer + time.Second
	AuthorizerTimeout = authorizerAnswer + time.Second
)

// Within these waits are the attempts to call DynamoDB, from dialing to the last byte of the answer.
// DynamoDB answers in single milliseconds. Two attempts that hang leave
// time for a third within AuthorizerWait. The SDK's own limit is 30 s to dial, and none for an answer.
const (
	Attempt    = 700 * time.Millisecond
	FirstDelay = 25 * time.Millisecond // the longest delay after the first attempt; it doubles with each further one
	MaxDelay   = time.Second
)

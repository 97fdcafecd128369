// Package budget is the table of the times that bound a request. Each one is within the next:
//
//	          an attempt   waits    answers   Lambda stops it   API Gateway gives up
//	authorizer   0.7 s      1.7 s      2 s          3 s                 10 s
//	operation    0.7 s      2.7 s      3 s          4 s                 30 s
//
// A longer wait would only occupy an execution: the client can repeat the request.
package budget

import "time"

const (
	operation  = 3 * time.Second        // an operation answers within it
	authorizer = 2 * time.Second        // the authorizer answers within it
	reserve    = 300 * time.Millisecond // of both, to answer after the wait
)

const (
	// OperationWait is how long an operation waits for its store.
	OperationWait = operation - reserve

	// AuthorizerWait is how long the authorizer waits for its store or issuer.
	AuthorizerWait = authorizer - reserve

	// OperationTimeout is the timeout of an operation's function in template.yaml. Lambda counts an
	// invocation that it stops as an error, so a function has a second more than it needs.
	OperationTimeout = operation + time.Second

	// AuthorizerTimeout is the timeout of the authorizer in template.yaml.
	AuthorizerTimeout = authorizer + time.Second

	// Attempt bounds one attempt of a function to call DynamoDB, from dialing to the last byte of the
	// answer. DynamoDB answers in single milliseconds. Two attempts that hang leave time for a third
	// within AuthorizerWait. The SDK's own limit is 30 s to dial, and none for an answer.
	Attempt = 700 * time.Millisecond

	// FirstDelay bounds the delay after the first attempt. The bound doubles with each further one.
	FirstDelay = 25 * time.Millisecond

	// MaxDelay is the last of these bounds.
	MaxDelay = time.Second

	// KeyFetch bounds the fetch of an issuer's keys, within AuthorizerWait.
	KeyFetch = 1500 * time.Millisecond
)

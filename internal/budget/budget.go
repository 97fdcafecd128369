// Package budget is the table of the times that bound a request. Each one is within the next:
//   - authorizer: Attempt, AuthorizerWait, authorizer, AuthorizerTimeout, and 10 s in API Gateway
//   - operation: Attempt, OperationWait, operation, OperationTimeout, and 30 s in API Gateway
//
// A longer wait would only occupy an execution: the client can repeat the request.
package budget

import "time"

const (
	operation  = 3 * time.Second        // an operation answers within it
	authorizer = 2 * time.Second        // the authorizer answers within it
	reserve    = 300 * time.Millisecond // of both, to answer after the wait
)

// A function waits for its store or issuer. Then it answers, a second before the timeout that it has in
// template.yaml: Lambda counts an invocation that it stops as an error.
const (
	OperationWait     = operation - reserve
	AuthorizerWait    = authorizer - reserve
	OperationTimeout  = operation + time.Second
	AuthorizerTimeout = authorizer + time.Second
)

// Within these waits are the attempts to call DynamoDB, from dialing to the last byte of the answer, and
// the fetch of an issuer's keys. DynamoDB answers in single milliseconds. Two attempts that hang leave
// time for a third within AuthorizerWait. The SDK's own limit is 30 s to dial, and none for an answer.
const (
	Attempt    = 700 * time.Millisecond
	FirstDelay = 25 * time.Millisecond // the longest delay after the first attempt; it doubles with each further one
	MaxDelay   = time.Second
	KeyFetch   = 1500 * time.Millisecond
)

// Package budget has the times that bound a request. In each of the two functions, every time is shorter than
// the next:
//
//   - one attempt to call DynamoDB: AttemptTimeout of package dynamo
//   - all attempts together: [OperationWait], [AuthorizerWait]
//   - until the function answers: operationAnswer, authorizerAnswer
//   - until Lambda stops the function: [OperationTimeout], [AuthorizerTimeout]
//   - until API Gateway answers in place of the function: 30 s for an operation, 10 s for the authorizer
//
// A longer wait would only occupy one of the executions that Lambda allows at once: the client can repeat
// the request. The WriteTimeout of cmd/plantstore, and figures in docs/reliability.md and
// docs/emergencies.md, follow from these times.
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

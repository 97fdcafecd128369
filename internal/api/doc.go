// Package api is the service behind API Gateway: it answers the events that API Gateway sends to the
// Lambda functions. For each request, [Authorizer] gets an event first, and answers with a verdict on the
// bearer token. [Service] gets the second event, which contains that verdict. Both have the Invoke method
// of aws-lambda-go's Handler. Package gateway is the other side: a stand-in for API Gateway, which turns
// HTTP into these events on a developer's machine.
//
// Every answer of Service is 200 with what the operation returns, or 400 with an Error of the catalogue,
// also if the event is malformed, the store fails or the operation panics. Service logs each request in one line.
// Authorizer logs one too if it does not allow the request, or if its check was slow. No line has a token, a
// header or a body.
package api

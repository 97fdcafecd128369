// Package api answers the events that API Gateway sends to the Lambda functions. For each request, [Authorizer] gets an
// event first, and answers with a verdict on the bearer token. [Service] gets the second event, with that verdict.
//
// Every answer of Service is 200 or 400, also if the event is malformed or the operation panics. It logs each request in
// one line. Authorizer logs one too if it does not allow the request, or was slow. No line has a token, a header or a
// body.
package api

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/plant"
)

// Service answers the requests of every route. It is a lambda.Handler.
type Service struct {
	Plants plant.Store
	Log    *slog.Logger
	NewKey func() string // for a request without a key: at least 128 random bits in visible ASCII
}

// operation is what the service does for a route.
type operation struct {
	name string // in the log

	// answer returns the body of the answer 200, or an error. If it takes an idempotency key, it sets that in the request.
	answer func(*Service, context.Context, *request) (body any, err error)
}

var operations = map[string]operation{
	"POST /plants": {name: "create plant", answer: (*Service).createPlant},
}

// Routes returns the keys of all routes in API Gateway, such as "POST /plants".
func Routes() []string { return slices.Sorted(maps.Keys(operations)) }

// Invoke answers an event of payload format 2.0.
func (s *Service) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := time.Now()
	r, body, err := s.handle(ctx, event)
	o := classify(err)
	name := cmp.Or(operations[r.RouteKey].name, "no operation")
	s.Log.LogAttrs(ctx, o.level(), name, o.attributes(ctx, r, time.Since(start))...)
	return respond(o, body, r.idempotencyKey)
}

// handle checks the verdict before anything else: the authorizer lets every request pass.
func (s *Service) handle(ctx context.Context, event []byte) (r request, body any, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget.OperationWait)
	defer cancel()
	defer recoverInto(&err)
	r, err = decodeEvent(event)
	if err != nil {
		return r, nil, err
	}
	r.principal, err = r.RequestContext.Authorizer.Verdict.principalFor(r.Headers["authorization"])
	if err != nil {
		return r, nil, err
	}
	op, known := operations[r.RouteKey]
	if !known {
		return r, nil, fmt.Errorf("api: no operation has the route %q", r.RouteKey)
	}
	body, err = op.answer(s, ctx, &r)
	return r, body, err
}

func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("api: panic: %v\n%s", p, debug.Stack())
	}
}

// response is an answer to API Gateway in payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

func respond(o outcome, body any, idempotencyKey string) ([]byte, error) {
	answer := response{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": "application/json"}}
	if o.err != nil {
		answer.StatusCode = http.StatusBadRequest
		body = Error{Code: o.code, Message: o.message}
	}
	if o.retry {
		answer.Headers["retry-after"] = "1" // second
	}
	if o.retry && idempotencyKey != "" {
		answer.Headers["idempotency-key"] = idempotencyKey
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	answer.Body = string(content)
	return json.Marshal(answer)
}

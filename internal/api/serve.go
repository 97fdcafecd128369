// Package api has the handlers of the two Lambda functions. API Gateway calls [Authorizer] for each request, and then
// [CreatePlant] with its verdict on the bearer token.
//
// Every answer of CreatePlant is 200 or 400, also if the event is malformed or something panics. Each request is
// logged in one line. The authorizer adds one if it does not allow the request. No line has a token, a header or a
// body.
package api

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"plantstore/internal/token"
)

// serveTimeout limits a request, from its event on: a longer wait would only occupy executions of Lambda, and the
// client can repeat the request. template.yaml gives the function more time.
const serveTimeout = 2700 * time.Millisecond

// operation is what a function does for a request with a valid token. It returns the body of the answer 200.
type operation func(context.Context, *request) (body any, err error)

// serve answers an event of payload format 2.0, and logs the request as name. The authorizer lets every request pass,
// so a function that does not answer through here is open to everybody.
func serve(ctx context.Context, event []byte, log *slog.Logger, name string, do operation) ([]byte, error) {
	start := time.Now()
	r, body, err := handle(ctx, event, do)
	logRequest(ctx, log, name, r, err, time.Since(start))
	return respond(body, err, r.idempotencyKey)
}

func handle(ctx context.Context, event []byte, do operation) (r request, body any, err error) {
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	defer recoverInto(&err)
	r, err = decodeEvent(event)
	if err != nil {
		return r, nil, err
	}
	r.caller, err = r.RequestContext.Authorizer.Verdict.callerOf(r.Headers["Authorization"])
	if err != nil {
		return r, nil, err
	}
	body, err = do(ctx, &r)
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

func respond(body any, err error, idempotencyKey string) ([]byte, error) {
	r := response{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": "application/json"}}
	if err != nil {
		e := entryOf(err)
		body = Error{Code: e.code, Message: e.message}
		r.StatusCode = http.StatusBadRequest
		if e.retry {
			r.Headers["retry-after"] = "1" // second
		}
		if e.retry && idempotencyKey != "" {
			r.Headers["idempotency-key"] = idempotencyKey
		}
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r.Body = string(content)
	return json.Marshal(r)
}

// logRequest logs a request, with the code of its answer. The authorizer logs its own internal error as 5001, and the
// client gets 5003.
func logRequest(ctx context.Context, log *slog.Logger, name string, r request, err error, took time.Duration) {
	e := entryOf(err)
	attributes := []slog.Attr{
		slog.String("request_id", r.RequestContext.RequestID), // API Gateway's, the Apigw-Requestid of the client
		slog.Int("code", int(e.code)),
		slog.String("subject", r.caller.Subject),
		slog.String("token_id", r.caller.ID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if reason, ok := errors.AsType[token.Reason](err); ok {
		attributes = append(attributes, slog.String("reason", string(reason)))
	}
	level := slog.LevelInfo
	if e.isServiceFault() {
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", err.Error()))
	}
	log.LogAttrs(ctx, level, name, attributes...)
}

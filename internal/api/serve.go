// Package api contains the handlers of the Lambda functions. For each request, API Gateway calls [Authorizer], and then a
// function such as [CreatePlant] with the authorizer's verdict on the bearer token.
//
// The function always answers 200 or 400, even to a malformed event or after a panic, and logs one line. The authorizer
// logs another if it does not allow the request. No line contains a token, a header or a body.
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

	"plantstore/internal/plant"
)

// RequestTimeout is a function's time limit for a request, after the authorizer. Its timeout in template.yaml is longer.
const RequestTimeout = 2700 * time.Millisecond

// Handler answers events in payload format 2.0. aws-lambda-go has the same interface, but this package needs nothing else
// from it.
type Handler interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
}

// Routes returns the functions by route key, as in template.yaml.
func Routes(plants plant.Store, log *slog.Logger) map[string]Handler {
	return map[string]Handler{
		"POST /plants": &CreatePlant{Plants: plants, Log: log},
	}
}

// operation handles a request that has a valid token. It returns the body of the 200 response.
type operation func(context.Context, request) (body any, err error)

// serve answers an event, and logs the request with name as the message.
//
// Every handler must answer through serve: the authorizer lets all requests through, and only serve refuses those without a
// valid token.
func serve(ctx context.Context, event []byte, log *slog.Logger, name string, do operation) ([]byte, error) {
	start := time.Now()
	r, body, err := handle(ctx, event, do)
	logRequest(ctx, log, name, r, err, time.Since(start))
	if err != nil {
		return refuse(err)
	}
	return respond(http.StatusOK, map[string]string{}, body)
}

func handle(ctx context.Context, event []byte, do operation) (r request, body any, err error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	defer recoverInto(&err)
	r, err = decodeEvent(event)
	if err != nil {
		return r, nil, err
	}
	r.caller, err = findCaller(r.Headers["Authorization"], r.RequestContext.Authorizer.Context)
	if err != nil {
		return r, nil, err
	}
	body, err = do(ctx, r)
	return r, body, err
}

func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("api: panic: %v\n%s", p, debug.Stack())
	}
}

// response is in payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

func refuse(err error) ([]byte, error) {
	e := entryOf(err)
	headers := map[string]string{}
	if e.isTemporary() {
		headers["retry-after"] = "1" // second
		if write, ok := errors.AsType[*writeError](err); ok {
			headers["idempotency-key"] = write.idempotencyKey
		}
	}
	return respond(http.StatusBadRequest, headers, Error{Code: e.code, Message: e.message})
}

func respond(status int, headers map[string]string, body any) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	headers["content-type"] = "application/json"
	return json.Marshal(response{StatusCode: status, Headers: headers, Body: string(content)})
}

// logRequest logs a request with the code of its answer, or 0. After an internal error in the authorizer, the authorizer
// logs 5001, and the client gets 5003.
func logRequest(ctx context.Context, log *slog.Logger, name string, r request, err error, took time.Duration) {
	e := entryOf(err)
	attributes := []slog.Attr{
		slog.String("apigw_request_id", r.RequestContext.RequestID), // the client gets it as Apigw-Requestid
		slog.Int("code", int(e.code)),
		slog.String("subject", r.caller.subject),
		slog.String("token_id", r.caller.tokenID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	level, key := slog.LevelInfo, "reason"
	if e.isServiceFault() {
		level, key = slog.LevelError, "error"
	}
	if err != nil {
		attributes = append(attributes, slog.String(key, err.Error()))
	}
	log.LogAttrs(ctx, level, name, attributes...)
}

// Package gateway is an API Gateway HTTP API in process: it turns an HTTP request into the events
// that AWS would send to the authorizer and to the function, and the answer into an HTTP response.
//
// It does as AWS does: routes by method and path; header names in lower case and repeated headers
// joined by a comma; a body as text or in base64 by its content type; the authorizer called for every
// request of a route; functions that are not stopped when their client goes away; and an HTTP API's
// own answers: 403, 404, 408, 413 and 500, each with a JSON message, and 204 to a CORS preflight.
//
// It does not throttle, refuse an event over Lambda's limit of 6 MB, or parse cookies, query and
// path parameters, which the functions do not read.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// The limits of the HTTP API and of the two functions in template.yaml.
const (
	maxBodySize = 10 << 20 // bytes; a larger body is answered 413

	// MaxHeaderSize limits the request line and all headers, in bytes. The HTTP server enforces it.
	MaxHeaderSize = 10240

	authorizerTimeout = 3 * time.Second
	functionTimeout   = 4 * time.Second
)

// Function is a Lambda function: an event in, an answer out. An error means that it failed.
type Function interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
}

// Gateway is an [http.Handler] for the routes of an API, each with the same authorizer.
type Gateway struct {
	Authorizer   Function
	Routes       map[string]Function // by route key, such as "POST /plants"
	AllowOrigins []string            // of pages, or https://*, http://* or *; nil means no CORS
	Log          *slog.Logger
	Now          func() time.Time
	NewID        func() string // returns a request id that no other request has
}

// ServeHTTP answers one request as the HTTP API would.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := g.NewID()
	w.Header().Set("Apigw-Requestid", id)
	if g.preflight(w, r) {
		return
	}
	routeKey := r.Method + " " + r.URL.Path
	function, found := g.Routes[routeKey]
	if !found {
		refuse(w, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		refuse(w, http.StatusRequestEntityTooLarge)
	case err != nil:
		refuse(w, http.StatusRequestTimeout)
	default:
		g.invoke(context.WithoutCancel(r.Context()), w, function, newEvent(r, routeKey, body, id, g.Now()))
	}
}

// invoke calls the authorizer and, if it allows the request of event, the function.
func (g *Gateway) invoke(ctx context.Context, w http.ResponseWriter, f Function, event events.APIGatewayV2HTTPRequest) {
	id := event.RequestContext.RequestID
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	if err := call(ctx, g.Authorizer, authorizerTimeout, newAuthorizerEvent(event), &verdict); err != nil {
		g.Log.ErrorContext(ctx, "authorizer failed", "request_id", id, "error", err.Error())
		refuse(w, http.StatusInternalServerError)
		return
	}
	if !verdict.IsAuthorized {
		refuse(w, http.StatusForbidden)
		return
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	var answer events.APIGatewayV2HTTPResponse
	err := call(ctx, f, functionTimeout, event, &answer)
	if err != nil || answer.StatusCode < 200 || answer.StatusCode > 599 {
		g.Log.ErrorContext(ctx, "function failed", "request_id", id, "status", answer.StatusCode, "error", err)
		refuse(w, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	g.allow(event.Headers["origin"], w.Header())
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may have gone
}

// call invokes f with event and decodes its answer.
func call(ctx context.Context, f Function, timeout time.Duration, event, answer any) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := f.Invoke(ctx, payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, answer)
}

// refuse writes an answer of the gateway's own.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may have gone
}

// Package gateway is an API Gateway HTTP API in process: it turns an HTTP
// request into the events that AWS would send to the authorizer and to the
// function, and the function's answer into an HTTP response.
//
// It does as AWS does: routes by method and path; header names in lower case and repeated
// headers joined by a comma; a body as text or in base64 by its content type;
// the authorizer called for every request of the route, its context under
// requestContext.authorizer.lambda; functions that are not stopped when their
// client goes away; and the answers that an HTTP API gives by itself, which
// cannot be changed in AWS: 403, 404, 408, 413 and 500, each with a JSON message.
//
// It does not throttle, refuse an event over Lambda's limit of 6 MB, or parse
// cookies, query and path parameters, which the functions do not read.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// The limits of the HTTP API and of the two functions in template.yaml.
const (
	// maxBodySize is the largest body in bytes; a larger one is answered 413.
	maxBodySize = 10 << 20

	// smallBodySize is the size in bytes from which a body counts as large.
	smallBodySize = 1 << 20

	// MaxHeaderSize is the largest size of the request line and all headers, in
	// bytes. The HTTP server in front of the gateway enforces it.
	MaxHeaderSize = 10240

	authorizerTimeout = 3 * time.Second
	functionTimeout   = 4 * time.Second
)

// Function is a Lambda function: an event in, an answer out. An error means that
// the function failed.
type Function interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
}

// Gateway is an [http.Handler] for the routes of an API, each with the same
// authorizer.
type Gateway struct {
	Authorizer Function

	// Routes are the functions by route key, such as "POST /plants".
	Routes map[string]Function

	Log *slog.Logger

	// Now is the clock.
	Now func() time.Time

	// NewID returns a request id that no other request has.
	NewID func() string

	large sync.Mutex // held while a large body is in memory
}

var _ http.Handler = (*Gateway)(nil)

// ServeHTTP answers one request as the HTTP API would.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := g.NewID()
	w.Header().Set("Apigw-Requestid", id)
	routeKey := r.Method + " " + r.URL.Path
	function, found := g.Routes[routeKey]
	if !found {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	body, done, err := g.read(w, r)
	defer done()
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	}
	if err != nil {
		refuse(w, http.StatusRequestTimeout, "Request Timeout")
		return
	}
	event := newEvent(r, routeKey, body, id, g.Now())
	ctx := context.WithoutCancel(r.Context())
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	if err := call(ctx, g.Authorizer, authorizerTimeout, newAuthorizerEvent(event), &verdict); err != nil {
		g.fail(ctx, w, id, "authorizer failed", err)
		return
	}
	if !verdict.IsAuthorized {
		refuse(w, http.StatusForbidden, "Forbidden")
		return
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	var answer events.APIGatewayV2HTTPResponse
	if err := call(ctx, function, functionTimeout, event, &answer); err != nil {
		g.fail(ctx, w, id, "function failed", err)
		return
	}
	write(w, answer)
}

// read reads the body of a request. One large body is in memory at a time:
// otherwise some dozens of clients without a token could make the process hold
// gigabytes. The caller calls done when it no longer needs the body.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	limited := http.MaxBytesReader(w, r.Body, maxBodySize)
	body, err = io.ReadAll(io.LimitReader(limited, smallBodySize))
	if err != nil || len(body) < smallBodySize {
		return body, func() {}, err
	}
	g.large.Lock()
	rest, err := io.ReadAll(limited)
	return append(body, rest...), g.large.Unlock, err
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

// fail answers for a function that gave no answer.
func (g *Gateway) fail(ctx context.Context, w http.ResponseWriter, id, message string, err error) {
	g.Log.ErrorContext(ctx, message, "request_id", id, "error", err.Error())
	refuse(w, http.StatusInternalServerError, "Internal Server Error")
}

// refuse writes an answer of the gateway's own.
func refuse(w http.ResponseWriter, status int, message string) {
	write(w, events.APIGatewayV2HTTPResponse{
		StatusCode: status,
		Headers:    map[string]string{"Content-Type": "application/json"},
		Body:       `{"message":"` + message + `"}`,
	})
}

// write sends answer to the client.
func write(w http.ResponseWriter, answer events.APIGatewayV2HTTPResponse) {
	if answer.StatusCode < 200 || answer.StatusCode > 599 {
		refuse(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may have gone
}

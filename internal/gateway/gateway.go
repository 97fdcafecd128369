// Package gateway is an API Gateway HTTP API in process: it turns an HTTP request into the events
// that AWS would send to the authorizer and to the function, and the answer into an HTTP response.
//
// It does not throttle, refuse an event over Lambda's 6 MB, or parse cookies and query parameters. At a function's timeout
// it only cancels the context. The HTTP server itself answers what is not HTTP, with text.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// The limits of an HTTP API, in bytes.
const (
	maxBodySize = 10 << 20

	// MaxHeaderSize limits the request line and all headers. The HTTP server enforces it.
	MaxHeaderSize = 10240
)

const requestIDHeader = "Apigw-Requestid"

// Gateway is an HTTP API. It is an [http.Handler].
type Gateway struct {
	Authorizer lambda.Handler
	Routes     map[string]lambda.Handler // by route key, such as "POST /plants"
	Log        *slog.Logger
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(requestIDHeader, rand.Text())
	routeKey := r.Method + " " + r.URL.Path
	function, found := g.Routes[routeKey]
	if !found {
		refuse(w, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil { // the client sends something else than HTTP, or too slowly
		refuse(w, http.StatusBadRequest)
		return
	}
	// As in AWS, a function runs on when its client goes away.
	g.invoke(context.WithoutCancel(r.Context()), w, newEvent(r, routeKey, body, w.Header().Get(requestIDHeader)), function)
}

func (g *Gateway) invoke(ctx context.Context, w http.ResponseWriter, event events.APIGatewayV2HTTPRequest, function lambda.Handler) {
	id := event.RequestContext.RequestID
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	if err := call(ctx, g.Authorizer, newAuthorizerEvent(event), &verdict); err != nil {
		g.Log.ErrorContext(ctx, "authorizer failed", "request_id", id, "error", err.Error())
		refuse(w, http.StatusInternalServerError)
		return
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	var answer events.APIGatewayV2HTTPResponse
	err := call(ctx, function, event, &answer)
	if err != nil || answer.StatusCode < 200 || answer.StatusCode > 599 {
		g.Log.ErrorContext(ctx, "function failed", "request_id", id, "status", answer.StatusCode, "error", err)
		refuse(w, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may have gone
}

func call(ctx context.Context, f lambda.Handler, event, answer any) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return err
	}
	out, err := f.Invoke(ctx, payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, answer)
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may have gone
}

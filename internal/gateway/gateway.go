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
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/budget"
)

// The limits of an HTTP API, in bytes.
const (
	maxBodySize = 10 << 20

	// MaxHeaderSize limits the request line and all headers. The HTTP server enforces it.
	MaxHeaderSize = 10240
)

const requestIDHeader = "Apigw-Requestid"

// Options are what a [Gateway] serves. Its route keys are patterns of [http.ServeMux] too: no path ends in a slash or in
// {proxy+}.
type Options struct {
	Routes     []string // such as "POST /plants" or "GET /plants/{id}"
	Authorizer lambda.Handler
	Function   lambda.Handler
	Log        *slog.Logger
}

// Gateway is an [http.Handler] for the routes of an API.
type Gateway struct {
	Options
	mux *http.ServeMux
}

// New returns a gateway. It panics if a route key is malformed, or if two conflict.
func New(options Options) *Gateway {
	g := &Gateway{Options: options, mux: http.NewServeMux()}
	for _, routeKey := range options.Routes {
		g.mux.HandleFunc(routeKey, g.serve)
	}
	return g
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(requestIDHeader, rand.Text())
	// As in AWS, a function runs on when its client goes away, and a path is decoded before it is routed: %2F separates
	// two segments.
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.URL = &url.URL{Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	if !g.hasRoute(r) {
		refuse(w, http.StatusNotFound)
		return
	}
	g.mux.ServeHTTP(w, r)
}

// hasRoute reports whether a route has exactly the method and the path of r. [http.ServeMux] alone would also redirect
// to a clean path, answer HEAD by a route of GET, and another method by 405.
func (g *Gateway) hasRoute(r *http.Request) bool {
	if path.Clean("/"+r.URL.Path) != r.URL.Path {
		return false
	}
	_, routeKey := g.mux.Handler(r)
	return strings.HasPrefix(routeKey, r.Method+" ")
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		refuse(w, http.StatusRequestEntityTooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout)
	case err != nil:
		refuse(w, http.StatusBadRequest)
	default:
		event := newEvent(r, body, w.Header().Get(requestIDHeader), time.Now())
		g.invoke(r.Context(), w, event)
	}
}

func (g *Gateway) invoke(ctx context.Context, w http.ResponseWriter, event events.APIGatewayV2HTTPRequest) {
	id := event.RequestContext.RequestID
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	if err := call(ctx, g.Authorizer, budget.AuthorizerTimeout, newAuthorizerEvent(event), &verdict); err != nil {
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
	err := call(ctx, g.Function, budget.OperationTimeout, event, &answer)
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

func call(ctx context.Context, f lambda.Handler, timeout time.Duration, event, answer any) error {
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

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may have gone
}

// Package gateway stands in for an API Gateway HTTP API: it calls the authorizer and the function with the events that
// API Gateway would send for an HTTP request, and turns the function's answer into the HTTP response.
//
// The events contain little beyond what the functions read. Unlike API Gateway, this package calls the function whatever the
// authorizer answers, and redirects a path such as //plants. It does not throttle, limit an event to 6 MB, or stop a
// function at its timeout.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// maxBody is an HTTP API's limit for a body, in bytes. Source: API Gateway Developer Guide, "Quotas for HTTP APIs".
const maxBody = 10 << 20

// Gateway is an [http.Handler] that stands in for an HTTP API.
type Gateway struct {
	authorizer lambda.Handler
	log        *slog.Logger
	mux        http.ServeMux
}

// New returns an HTTP API that has no routes yet.
func New(authorizer lambda.Handler, log *slog.Logger) *Gateway {
	g := &Gateway{authorizer: authorizer, log: log}
	g.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound) })
	return g
}

// Handle adds a route, such as "POST /plants", and the function behind it.
func (g *Gateway) Handle(routeKey string, function lambda.Handler) {
	g.mux.HandleFunc(routeKey, func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, function) })
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Apigw-Requestid", rand.Text())
	g.mux.ServeHTTP(w, r)
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, function lambda.Handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil { // malformed or too slow
		refuse(w, http.StatusBadRequest)
		return
	}
	ctx := context.WithoutCancel(r.Context()) // in Lambda, a function does not stop when its client goes away
	id := w.Header().Get("Apigw-Requestid")
	answer, err := g.invoke(ctx, newEvent(r, body, id), function)
	if err != nil {
		g.log.ErrorContext(ctx, "invocation failed", "apigw_request_id", id, "error", err.Error())
		refuse(w, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may be gone
}

// refuse answers as API Gateway does when no function ran or the function failed.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may be gone
}

func (g *Gateway) invoke(
	ctx context.Context, event events.APIGatewayV2HTTPRequest, function lambda.Handler,
) (answer events.APIGatewayV2HTTPResponse, err error) {
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	authorizerEvent := events.APIGatewayV2CustomAuthorizerV2Request{
		Version:        event.Version,
		Type:           "REQUEST",
		RouteKey:       event.RouteKey,
		Headers:        event.Headers,
		RequestContext: event.RequestContext,
	}
	err = call(ctx, g.authorizer, authorizerEvent, &verdict)
	if err != nil {
		return answer, err
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	err = call(ctx, function, event, &answer)
	return answer, err
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

func newEvent(r *http.Request, body []byte, id string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version:  "2.0",
		RouteKey: r.Pattern,
		Headers:  map[string]string{},
		Body:     string(body),
	}
	e.RequestContext.RequestID = id
	for name, values := range r.Header {
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	if len(body) > 0 && (!isText(r.Header.Get("Content-Type")) || !utf8.Valid(body)) {
		e.Body = base64.StdEncoding.EncodeToString(body)
		e.IsBase64Encoded = true
	}
	return e
}

// isText reports whether API Gateway passes on a body of this content type as text rather than base64.
func isText(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	texts := []string{"application/json", "application/xml", "application/javascript"}
	return strings.HasPrefix(media, "text/") || slices.Contains(texts, media)
}

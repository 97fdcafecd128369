// Package gateway is an API Gateway HTTP API in process: it turns an HTTP request into the events of payload format 2.0
// that AWS would send to the authorizer and to the function, and the function's answer into an HTTP response.
//
// It does not throttle, limit an event to Lambda's 6 MB, stop a function at its timeout, or parse cookies and queries.
package gateway

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// maxBody is the largest body of an HTTP API, in bytes. Source: API Gateway Developer Guide, "Quotas for HTTP APIs".
const maxBody = 10 << 20

// Gateway is an HTTP API. It is an [http.Handler].
type Gateway struct {
	Authorizer lambda.Handler
	Routes     map[string]lambda.Handler // by route key, such as "POST /plants"
	Log        *slog.Logger
}

// ServeHTTP implements [http.Handler].
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	w.Header().Set("Apigw-Requestid", id)
	routeKey := r.Method + " " + r.URL.Path
	function, found := g.Routes[routeKey]
	if !found {
		refuse(w, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil { // the client sends something else than HTTP, or too slowly
		refuse(w, http.StatusBadRequest)
		return
	}
	ctx := context.WithoutCancel(r.Context()) // as in Lambda, a function runs on when its client goes away
	answer, err := g.invoke(ctx, newEvent(r, routeKey, body, id), function)
	if err != nil {
		g.Log.ErrorContext(ctx, "invocation failed", "request_id", id, "error", err.Error())
		refuse(w, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may have gone
}

// refuse answers as API Gateway does where no function ran, or one failed.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may have gone
}

// invoke calls the authorizer, and then function with what the authorizer found.
func (g *Gateway) invoke(
	ctx context.Context, event events.APIGatewayV2HTTPRequest, function lambda.Handler,
) (answer events.APIGatewayV2HTTPResponse, err error) {
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	err = call(ctx, g.Authorizer, newAuthorizerEvent(event), &verdict)
	if err != nil {
		return answer, err
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	err = call(ctx, function, event, &answer)
	if err == nil && (answer.StatusCode < 200 || answer.StatusCode > 599) {
		err = errors.New("the function's answer has no valid status")
	}
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

func newEvent(r *http.Request, routeKey string, body []byte, id string) events.APIGatewayV2HTTPRequest {
	headers, now := joinHeaders(r), time.Now()
	e := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       routeKey,
		RawPath:        r.URL.Path,
		RawQueryString: r.URL.RawQuery,
		Headers:        headers,
		Body:           string(body),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey:     routeKey,
			AccountID:    "123456789012",
			Stage:        "$default",
			RequestID:    id,
			APIID:        "local",
			DomainName:   r.Host,
			DomainPrefix: "local",
			Time:         now.UTC().Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch:    now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method:    r.Method,
				Path:      r.URL.Path,
				Protocol:  r.Proto,
				SourceIP:  headers["x-forwarded-for"],
				UserAgent: r.UserAgent(),
			},
		},
	}
	if len(body) > 0 && (!isText(r.Header.Get("Content-Type")) || !utf8.Valid(body)) {
		e.Body = base64.StdEncoding.EncodeToString(body)
		e.IsBase64Encoded = true
	}
	return e
}

// newAuthorizerEvent returns the authorizer's event for the request in e. The template makes the route key the only
// identity source, so that the authorizer runs for every request.
func newAuthorizerEvent(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2CustomAuthorizerV2Request {
	c := e.RequestContext
	arn := "arn:aws:execute-api:us-east-1:" + c.AccountID + ":" + c.APIID + "/" + c.Stage + "/"
	return events.APIGatewayV2CustomAuthorizerV2Request{
		Version:        e.Version,
		Type:           "REQUEST",
		RouteArn:       arn + strings.Replace(e.RouteKey, " /", "/", 1),
		IdentitySource: []string{e.RouteKey},
		RouteKey:       e.RouteKey,
		RawPath:        e.RawPath,
		RawQueryString: e.RawQueryString,
		Headers:        e.Headers,
		RequestContext: c,
	}
}

// joinHeaders returns the headers by lower-case name, with those that API Gateway adds.
func joinHeaders(r *http.Request) map[string]string {
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	headers["host"] = r.Host
	headers["x-forwarded-proto"] = "http"
	address, port, _ := net.SplitHostPort(r.RemoteAddr) // net/http sets it
	headers["x-forwarded-for"] = address
	headers["x-forwarded-port"] = port
	return headers
}

// isText reports whether API Gateway passes on a body of this content type as it is, and not in base64.
func isText(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	texts := []string{"application/json", "application/xml", "application/javascript"}
	return strings.HasPrefix(media, "text/") || slices.Contains(texts, media)
}

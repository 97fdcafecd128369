package api

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// Gateway stands in for the API Gateway of template.yaml. It does not throttle, limits no headers, and knows no limits of
// Lambda's: 6 MB, and the timeout.
type Gateway struct {
	Authorizer lambda.Handler
	Routes     map[string]lambda.Handler // by method and path, such as "POST /plants"
}

// maxPayload is what an HTTP API accepts. Source: API Gateway Developer Guide, "Quotas for HTTP APIs".
const maxPayload = 10 << 20

// ServeHTTP implements [http.Handler].
func (g Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	w.Header().Set("Apigw-Requestid", id)
	w.Header().Set("Content-Type", "application/json")
	route := r.Method + " " + r.URL.Path
	function, ok := g.Routes[route]
	if !ok {
		answerItself(w, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		answerItself(w, http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil { // the client has gone, or sent malformed HTTP
		answerItself(w, http.StatusBadRequest)
		return
	}
	event := events.APIGatewayV2HTTPRequest{Version: "2.0", RouteKey: route, Headers: map[string]string{}}
	event.RequestContext.RequestID = id
	for name, values := range r.Header {
		event.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	answer, err := g.invoke(r.Context(), function, event, body)
	if err != nil {
		slog.Error("a function failed", "cause", err.Error(), "apigw_request_id", id)
		answerItself(w, http.StatusInternalServerError)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // the client may have gone
}

// answerItself answers with a body of API Gateway's.
func answerItself(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+http.StatusText(status)+`"}`) // the client may have gone
}

func (g Gateway) invoke(
	ctx context.Context, function lambda.Handler, event events.APIGatewayV2HTTPRequest, body []byte,
) (answer events.APIGatewayV2HTTPResponse, err error) {
	var verdict events.APIGatewayV2CustomAuthorizerSimpleResponse
	if err := call(ctx, g.Authorizer, event, &verdict); err != nil { // its event has nearly the same members
		return answer, err
	}
	event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: verdict.Context}
	event.Body = string(body)
	if !utf8.Valid(body) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
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

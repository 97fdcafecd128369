package gateway

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// newEvent returns the event of payload format 2.0 for a request that has matched a route, and its
// body: as text if its content type is application/json, in base64 otherwise. An event has no text that
// is not UTF-8. Its path parameters are decoded, as API Gateway's are.
func newEvent(r *http.Request, body []byte, id string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       r.Pattern,
		Headers:        joinedHeaders(r),
		PathParameters: pathParameters(r),
		Body:           string(body),
		RequestContext: events.APIGatewayV2HTTPRequestContext{RequestID: id},
	}
	if len(body) > 0 && (!isJSON(r.Header.Get("Content-Type")) || !utf8.Valid(body)) {
		e.Body = base64.StdEncoding.EncodeToString(body)
		e.IsBase64Encoded = true
	}
	return e
}

// newAuthorizerEvent returns the authorizer's event for the request in e, without the body.
func newAuthorizerEvent(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2CustomAuthorizerV2Request {
	return events.APIGatewayV2CustomAuthorizerV2Request{
		Version:        e.Version,
		Type:           "REQUEST",
		RouteKey:       e.RouteKey,
		Headers:        e.Headers,
		RequestContext: e.RequestContext,
		PathParameters: e.PathParameters,
	}
}

// pathParameters returns the value of each variable in the route key that r has matched.
func pathParameters(r *http.Request) map[string]string {
	parameters := map[string]string{}
	for segment := range strings.SplitSeq(r.Pattern, "/") {
		name, isVariable := strings.CutPrefix(segment, "{")
		if isVariable {
			name = strings.TrimSuffix(name, "}")
			parameters[name] = r.PathValue(name)
		}
	}
	return parameters
}

// joinedHeaders returns the headers, repeated ones joined by a comma.
func joinedHeaders(r *http.Request) map[string]string {
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return headers
}

func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}

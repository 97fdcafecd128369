package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// newEvent returns the event of payload format 2.0 for a request that has matched a route. Its paths and path parameters
// are decoded. A body whose content type is not one of text, or that is not UTF-8, is in base64.
func newEvent(r *http.Request, routeKey string, body []byte, id string) events.APIGatewayV2HTTPRequest {
	headers, now := joinedHeaders(r), time.Now()
	e := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       routeKey,
		RawPath:        r.URL.Path,
		RawQueryString: r.URL.RawQuery,
		Headers:        headers,
		Body:           string(body),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey:     routeKey,
			AccountID:    "123456789012", // AWS's documentation uses this one
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

// newAuthorizerEvent returns the authorizer's event for the request in e. Its only identity source is the route key, so
// that the authorizer always runs.
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

// joinedHeaders returns the headers, and those that API Gateway adds.
func joinedHeaders(r *http.Request) map[string]string {
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	headers["host"] = r.Host
	headers["x-forwarded-proto"] = "http"
	address, port, _ := net.SplitHostPort(r.RemoteAddr)
	headers["x-forwarded-for"] = address
	headers["x-forwarded-port"] = port
	return headers
}

func isText(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	return strings.HasPrefix(media, "text/") ||
		slices.Contains([]string{"application/json", "application/xml", "application/javascript"}, media)
}

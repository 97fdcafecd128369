package gateway

import (
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

const (
	routeKey  = "POST /plants"
	accountID = "123456789012" // the one of AWS's documentation
	apiID     = "local"
	stage     = "$default"
	routeARN  = "arn:aws:execute-api:us-east-1:" + accountID + ":" + apiID + "/" + stage + "/POST/plants"
)

// newEvent returns the event of payload format 2.0 for r, whose body was read.
func newEvent(r *http.Request, body []byte, id string, now time.Time) events.APIGatewayV2HTTPRequest {
	sourceIP, _, _ := net.SplitHostPort(r.RemoteAddr)
	e := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       routeKey,
		RawPath:        r.URL.EscapedPath(),
		RawQueryString: r.URL.RawQuery,
		Headers:        joinedHeaders(r),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey:     routeKey,
			AccountID:    accountID,
			Stage:        stage,
			RequestID:    id,
			APIID:        apiID,
			DomainName:   r.Host,
			DomainPrefix: apiID,
			Time:         now.UTC().Format("02/Jan/2006:15:04:05 +0000"),
			TimeEpoch:    now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method:    r.Method,
				Path:      r.URL.EscapedPath(),
				Protocol:  r.Proto,
				SourceIP:  sourceIP,
				UserAgent: r.UserAgent(),
			},
		},
	}
	e.Body, e.IsBase64Encoded = encodeBody(r.Header.Get("Content-Type"), body)
	return e
}

// newAuthorizerEvent returns the event that the authorizer gets for the request
// in e. It has no identity source but the route key, so that the authorizer
// always runs, and no body.
func newAuthorizerEvent(e events.APIGatewayV2HTTPRequest) events.APIGatewayV2CustomAuthorizerV2Request {
	return events.APIGatewayV2CustomAuthorizerV2Request{
		Version:        e.Version,
		Type:           "REQUEST",
		RouteArn:       routeARN,
		IdentitySource: []string{e.RouteKey},
		RouteKey:       e.RouteKey,
		RawPath:        e.RawPath,
		RawQueryString: e.RawQueryString,
		Headers:        e.Headers,
		RequestContext: e.RequestContext,
	}
}

// joinedHeaders returns the headers under lower-case names, repeated ones
// joined by a comma, with those that API Gateway adds.
func joinedHeaders(r *http.Request) map[string]string {
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	headers["host"] = r.Host
	headers["x-forwarded-for"], headers["x-forwarded-port"], _ = net.SplitHostPort(r.RemoteAddr)
	headers["x-forwarded-proto"] = "http"
	return headers
}

// encodeBody returns the body as the event carries it: as text where the content
// type is one of text, in base64 otherwise. What is not UTF-8 is never text,
// since an event could not hold it.
func encodeBody(contentType string, body []byte) (text string, isBase64 bool) {
	if isText(contentType) && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), len(body) > 0
}

func isText(contentType string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch media = strings.TrimSpace(media); media {
	case "application/json", "application/xml", "application/javascript":
		return true
	}
	return strings.HasPrefix(media, "text/")
}

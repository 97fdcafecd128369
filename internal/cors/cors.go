// Package cors lets web pages of other origins call the API on this machine. In AWS, CorsConfiguration in
// template.yaml does this.
package cors

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// AllowOrigins returns a handler that passes requests to next, and lets pages of some origins read the answers.
// It answers preflight requests itself, without the authorizer, as API Gateway does. origins has commas between
// the origins; * is every origin. If origins is empty, AllowOrigins returns next. If an origin is malformed, it
// returns an error. routes are the route keys of next, such as "POST /plants".
func AllowOrigins(next http.Handler, origins string, routes []string) (http.Handler, error) {
	if origins == "" {
		return next, nil
	}
	allowed := strings.Split(origins, ",")
	for _, origin := range allowed {
		if !isOrigin(origin) {
			return nil, errors.New("want origins, separated by commas, for example http://localhost:5173, or *")
		}
	}
	return cors.New(options(allowed, routes)).Handler(next), nil
}

// options returns what CorsConfiguration in template.yaml says, for these origins and routes.
func options(origins, routes []string) cors.Options {
	var methods []string
	for _, routeKey := range routes {
		method, _, _ := strings.Cut(routeKey, " ")
		methods = append(methods, method)
	}
	slices.Sort(methods)
	return cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: slices.Compact(methods),
		AllowedHeaders: []string{"authorization", "content-type", "idempotency-key"},
		ExposedHeaders: []string{"retry-after", "idempotency-key", "apigw-requestid"},
		MaxAge:         7200, // seconds
	}
}

// isOrigin reports whether text is *, or a scheme and a host with no path, as in a browser's Origin header.
// The host may contain a *.
func isOrigin(text string) bool {
	if text == "*" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && text == u.Scheme+"://"+u.Host
}

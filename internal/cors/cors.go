// Package cors lets pages of other origins call the API in a browser, as CorsConfiguration in template.yaml
// does in AWS.
package cors

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// Before returns a handler that lets pages of the origins in the variable ALLOW_ORIGIN, separated by commas,
// call next, which has these routes. * stands for every origin. If the variable is empty, Before returns
// next. As API Gateway does, the handler answers a preflight request itself, without the authorizer.
func Before(next http.Handler, routes []string, getenv func(string) string) (http.Handler, error) {
	value := getenv("ALLOW_ORIGIN")
	if value == "" {
		return next, nil // for package cors, an empty list means every origin
	}
	origins := strings.Split(value, ",")
	for _, origin := range origins {
		if !isOrigin(origin) {
			return nil, errors.New("ALLOW_ORIGIN must be origins, separated by commas, for example http://localhost:5173, or *")
		}
	}
	return cors.New(options(origins, routes)).Handler(next), nil
}

// options returns the CorsConfiguration of template.yaml.
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
		MaxAge:         7200,
	}
}

// isOrigin reports whether text is *, or an origin as browsers send it: a scheme and a host, which may
// have a wildcard.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return text == "*" || err == nil && u.Host != "" && text == u.Scheme+"://"+u.Host
}

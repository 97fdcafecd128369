package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"

	"plantstore/internal/api"
)

// withCORS lets pages of these origins call the API in a browser. As API Gateway does, it answers a
// preflight request itself, without the authorizer.
func withCORS(handler http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return handler // for package cors, an empty list means every origin
	}
	return cors.New(corsOptions(origins)).Handler(handler)
}

// corsOptions returns the CorsConfiguration of template.yaml.
func corsOptions(origins []string) cors.Options {
	var methods []string
	for _, routeKey := range api.Routes() {
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

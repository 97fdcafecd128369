package main

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"

	"plantstore/internal/api"
)

// withCORS lets pages of these origins call the API in a browser, with the CorsConfiguration of
// template.yaml. As API Gateway does, it answers a preflight request itself, without the authorizer.
func withCORS(handler http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return handler // for package cors, an empty list means every origin
	}
	var methods []string
	for _, routeKey := range api.Routes() {
		method, _, _ := strings.Cut(routeKey, " ")
		methods = append(methods, method)
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: methods,
		AllowedHeaders: []string{"authorization", "content-type", "idempotency-key"},
		ExposedHeaders: []string{"retry-after", "idempotency-key", "apigw-requestid"},
		MaxAge:         7200,
	}).Handler(handler)
}

// isOrigin reports whether text is *, or an origin as browsers send it: a scheme and a host, which may
// have a wildcard.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return text == "*" || err == nil && u.Host != "" && text == u.Scheme+"://"+u.Host
}

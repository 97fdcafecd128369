package main

import (
	"net/http"
	"strings"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"plantstore"
)

const pagePath = "/docs/"

// withPage returns a handler that answers a GET of the contract, and of the page on which a person reads it and tries
// it out. It passes all other requests to api.
func withPage(api http.Handler) http.Handler {
	page := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "Plant Store", SwaggerJSON: "/openapi.yaml", BasePath: pagePath,
		SettingsUI: map[string]string{"tryItOutEnabled": "true"},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/openapi.yaml":
			w.Header().Set("Content-Type", "application/yaml")
			_, _ = w.Write(plantstore.OpenAPI) // the client may have gone
		case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path+"/", pagePath):
			page.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

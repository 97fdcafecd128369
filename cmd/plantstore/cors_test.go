package main

import (
	"net/http"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/rs/cors"
	"go.yaml.in/yaml/v3"

	"plantstore/test/processtest"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// A page of an allowed origin can send and read what template.yaml allows it in AWS.
func TestCORSIsThatOfTemplate(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal(template, &value); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Resources", "HttpApi", "Properties", "CorsConfiguration"} {
		value = value.(map[string]any)[name]
	}
	deployed := value.([]any)[1].(map[string]any) // the values if the condition is met
	list := func(name string) (texts []string) {
		for _, text := range deployed[name].([]any) {
			texts = append(texts, text.(string))
		}
		return texts
	}
	want := cors.Options{
		AllowedOrigins: []string{site},
		AllowedMethods: slices.Sorted(slices.Values(list("allowMethods"))),
		AllowedHeaders: list("allowHeaders"),
		ExposedHeaders: list("exposeHeaders"),
		MaxAge:         deployed["maxAge"].(int),
	}
	if got := corsOptions([]string{site}); !reflect.DeepEqual(got, want) {
		t.Errorf("corsOptions = %+v, want %+v", got, want)
	}
}

// The page has a token, so CORS must never let another site read it. Within CORS, each answer has Vary: Origin.
func TestPageIsOutsideCORS(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, os.Args[0], asCommand, "ALLOW_ORIGIN="+site)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Origin": {site}, "Accept": {"*/*"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // its header is enough
	if response.StatusCode != http.StatusOK || response.Header.Get("Vary") != "" {
		t.Errorf("the page = %d with headers %v, want 200 outside CORS", response.StatusCode, response.Header)
	}
}

func TestAllowedOrigin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, allow, want string }{
		{name: "a page of an allowed origin can read an answer", allow: "http://localhost:5173," + site, want: site},
		{name: "without ALLOW_ORIGIN, no page can read an answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := processtest.Serve(t, os.Args[0], asCommand, "ALLOW_ORIGIN="+test.allow)
			header, _ := processtest.Post(t, server.URL+"/plants", http.Header{"Origin": {site}})
			if got := header.Get("Access-Control-Allow-Origin"); got != test.want {
				t.Errorf("answer to %s allows the origin %q, want %q", site, got, test.want)
			}
		})
	}
}

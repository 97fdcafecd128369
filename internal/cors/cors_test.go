package cors

import (
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/rs/cors"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// A page of an allowed origin can send and read what template.yaml allows it in AWS.
func TestOptions(t *testing.T) {
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
	if got := options([]string{site}, api.Routes()); !reflect.DeepEqual(got, want) {
		t.Errorf("options = %+v, want %+v", got, want)
	}
}

func TestOrigins(t *testing.T) {
	next := http.NotFoundHandler()
	for _, test := range []struct{ name, origins, want string }{
		{name: "a page of an allowed origin can read an answer", origins: "http://localhost:5173," + site, want: site},
		{name: "every page can, if all are allowed", origins: "*", want: "*"},
		{name: "no page of another origin can", origins: "http://localhost:5173"},
		{name: "no page can, if none is allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler, err := NewHandler(next, test.origins, api.Routes())
			if err != nil {
				t.Fatal(err)
			}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", http.NoBody)
			request.Header.Set("Origin", site)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if got := answer.Header().Get("Access-Control-Allow-Origin"); got != test.want {
				t.Errorf("answer to %s allows the origin %q, want %q", site, got, test.want)
			}
		})
	}
}

func TestMalformedOrigins(t *testing.T) {
	for _, origins := range []string{"https://example.com/", site + ",", "www.example.com", "https://", "null"} {
		if _, err := NewHandler(http.NotFoundHandler(), origins, api.Routes()); err == nil {
			t.Errorf("NewHandler for %q = nil, want an error", origins)
		}
	}
}

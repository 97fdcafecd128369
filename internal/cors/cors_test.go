package cors

import (
	"net/http"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/rs/cors"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// A page of an allowed origin can send and read what template.yaml allows it in AWS, and no credentials.
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
		AllowedOrigins:   []string{site},
		AllowedMethods:   slices.Sorted(slices.Values(list("allowMethods"))),
		AllowedHeaders:   list("allowHeaders"),
		ExposedHeaders:   list("exposeHeaders"),
		MaxAge:           deployed["maxAge"].(int),
		AllowCredentials: deployed["allowCredentials"] != nil,
	}
	if got := options([]string{site}, api.Routes()); !reflect.DeepEqual(got, want) {
		t.Errorf("options = %+v, want %+v", got, want)
	}
}

// TestCORS, in cmd/plantstore, shows that a page of an allowed origin can read an answer.
func TestOrigins(t *testing.T) {
	for _, test := range []struct {
		name, origins string
		valid         bool
	}{
		{name: "two origins", origins: "http://localhost:5173," + site, valid: true},
		{name: "every origin", origins: "*", valid: true},
		{name: "a path", origins: "https://example.com/"},
		{name: "an empty origin among others", origins: site + ","},
		{name: "no scheme", origins: "www.example.com"},
		{name: "no host", origins: "https://"},
		{name: "the origin of a page in a file", origins: "null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := AllowOrigins(http.NotFoundHandler(), test.origins, api.Routes())
			if valid := err == nil; valid != test.valid {
				t.Errorf("AllowOrigins for %q = %v, want valid: %t", test.origins, err, test.valid)
			}
		})
	}
}

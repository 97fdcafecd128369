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
	content, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources struct {
			HTTPAPI struct {
				Properties struct {
					CorsConfiguration []yaml.Node `yaml:"CorsConfiguration"` // an If: its condition, and two values
				} `yaml:"Properties"`
			} `yaml:"HttpApi"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	var deployed struct {
		AllowMethods     []string `yaml:"allowMethods"`
		AllowHeaders     []string `yaml:"allowHeaders"`
		ExposeHeaders    []string `yaml:"exposeHeaders"`
		MaxAge           int      `yaml:"maxAge"`
		AllowCredentials bool     `yaml:"allowCredentials"`
	}
	if err := template.Resources.HTTPAPI.Properties.CorsConfiguration[1].Decode(&deployed); err != nil {
		t.Fatal(err)
	}
	want := cors.Options{
		AllowedOrigins:   []string{site},
		AllowedMethods:   slices.Sorted(slices.Values(deployed.AllowMethods)),
		AllowedHeaders:   deployed.AllowHeaders,
		ExposedHeaders:   deployed.ExposeHeaders,
		MaxAge:           deployed.MaxAge,
		AllowCredentials: deployed.AllowCredentials,
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

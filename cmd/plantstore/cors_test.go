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
	var stack struct {
		Resources map[string]struct {
			Properties struct {
				If []yaml.Node `yaml:"CorsConfiguration"` // its condition, and the values if it is met
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &stack); err != nil {
		t.Fatal(err)
	}
	var deployed struct {
		AllowMethods  []string `yaml:"allowMethods"`
		AllowHeaders  []string `yaml:"allowHeaders"`
		ExposeHeaders []string `yaml:"exposeHeaders"`
		MaxAge        int      `yaml:"maxAge"`
	}
	if err := stack.Resources["HttpApi"].Properties.If[1].Decode(&deployed); err != nil {
		t.Fatal(err)
	}
	slices.Sort(deployed.AllowMethods)
	want := cors.Options{
		AllowedOrigins: []string{site},
		AllowedMethods: deployed.AllowMethods,
		AllowedHeaders: deployed.AllowHeaders,
		ExposedHeaders: deployed.ExposeHeaders,
		MaxAge:         deployed.MaxAge,
	}
	if got := corsOptions([]string{site}); !reflect.DeepEqual(got, want) {
		t.Errorf("corsOptions = %+v, want %+v", got, want)
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
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/plants", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Origin", site)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close() // its header is enough
			if got := response.Header.Get("Access-Control-Allow-Origin"); got != test.want {
				t.Errorf("answer to %s allows the origin %q, want %q", site, got, test.want)
			}
		})
	}
}

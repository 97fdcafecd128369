package main

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
	"plantstore/test/processtest"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// send sends a request to `plantstore serve`, as a browser does for a page, and returns the headers of
// the answer.
func send(t *testing.T, server *processtest.Server, method string, header http.Header) http.Header {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/plants", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	request.Header.Set("Origin", site)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // its header is enough
	return response.Header
}

// A page of an allowed origin can send and read what template.yaml allows it in AWS.
func TestAllowedOrigin(t *testing.T) {
	t.Parallel()
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
	slices.Sort(deployed.AllowHeaders) // as a browser does
	sent := strings.Join(deployed.AllowHeaders, ",")

	server := processtest.Serve(t, os.Args[0], append(processtest.InMemory(), asCommand, "ALLOW_ORIGIN=http://localhost:5173,"+site)...)
	preflight := func(method string) http.Header {
		return send(t, server, "OPTIONS", http.Header{
			"Access-Control-Request-Method":  {method},
			"Access-Control-Request-Headers": {sent},
		})
	}
	var methods []string
	for _, routeKey := range api.Routes() {
		method, _, _ := strings.Cut(routeKey, " ")
		methods = append(methods, method)
		if got := preflight(method).Get("Access-Control-Allow-Methods"); got != method {
			t.Errorf("allowed methods: %q, want %q", got, method)
		}
	}
	slices.Sort(methods)
	allowed := preflight("POST")
	refused := send(t, server, "POST", http.Header{})
	tests := []struct{ name, got, want string }{
		{"origin", allowed.Get("Access-Control-Allow-Origin"), site},
		{"methods of the routes", strings.Join(slices.Compact(methods), ", "), strings.Join(deployed.AllowMethods, ", ")},
		{"allowed headers", allowed.Get("Access-Control-Allow-Headers"), sent},
		{"seconds", allowed.Get("Access-Control-Max-Age"), strconv.Itoa(deployed.MaxAge)},
		{"origin of an answer", refused.Get("Access-Control-Allow-Origin"), site},
		{"headers to read", strings.ToLower(refused.Get("Access-Control-Expose-Headers")), strings.Join(deployed.ExposeHeaders, ", ")},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

// Without ALLOW_ORIGIN, no page can read an answer.
func TestNoAllowedOrigin(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, os.Args[0], append(processtest.InMemory(), asCommand)...)
	answer := send(t, server, "POST", http.Header{})
	if origin := answer.Get("Access-Control-Allow-Origin"); origin != "" {
		t.Errorf("answer to a page = %v, want no allowed origin", answer)
	}
}

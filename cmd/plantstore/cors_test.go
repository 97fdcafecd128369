package main

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/test/processtest"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// serveTo serves to pages of these origins, and returns the URL of the API's one path.
func serveTo(t *testing.T, allowed string) (url string) {
	t.Helper()
	environment := append(processtest.InMemory(), asCommand, "ALLOW_ORIGIN="+allowed)
	return processtest.Serve(t, os.Args[0], environment...).URL + "/plants"
}

// send sends a request, as a browser does for a page of this origin.
func send(t *testing.T, method, url, origin string, header http.Header) (status int, answered http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	request.Header.Set("Origin", origin)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, response.Header
}

// A page can send its request and read the answer if its origin is allowed.
func TestOrigins(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, allowed, origin string
		preflight             int    // status
		readable              string // the origin whose pages can read the answers
	}{
		{name: "one of the allowed origins", allowed: "http://localhost:5173," + site, origin: site, preflight: 204, readable: site},
		{name: "every origin is allowed", allowed: "*", origin: site, preflight: 204, readable: "*"},
		{name: "every https origin is allowed", allowed: "https://*", origin: site, preflight: 204, readable: site},
		{name: "an http origin is no https origin", allowed: "https://*", origin: "http://a.example", preflight: 204},
		{name: "an origin begins like an allowed one", allowed: site, origin: site + ".evil.example", preflight: 204},
		{name: "no origin is allowed", allowed: "", origin: site, preflight: 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url := serveTo(t, test.allowed)
			status, header := send(t, "OPTIONS", url, test.origin, http.Header{"Access-Control-Request-Method": {"POST"}})
			readable := header.Get("Access-Control-Allow-Origin")
			if status != test.preflight || readable != test.readable {
				t.Errorf("OPTIONS = %d to %q, want %d to %q", status, readable, test.preflight, test.readable)
			}
			status, header = send(t, "POST", url, test.origin, http.Header{})
			readable = header.Get("Access-Control-Allow-Origin")
			if status != http.StatusBadRequest || readable != test.readable {
				t.Errorf("POST = %d to %q, want 400 to %q", status, readable, test.readable)
			}
		})
	}
}

// A page can send and read the headers that the deployed API allows it, and a cache keeps the answers to origins apart.
func TestCORSHeaders(t *testing.T) {
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
		AllowHeaders  []string `yaml:"allowHeaders"`
		ExposeHeaders []string `yaml:"exposeHeaders"`
		MaxAge        int      `yaml:"maxAge"`
	}
	if err := stack.Resources["HttpApi"].Properties.If[1].Decode(&deployed); err != nil {
		t.Fatal(err)
	}
	slices.Sort(deployed.AllowHeaders) // as a browser does
	sent := strings.Join(deployed.AllowHeaders, ",")

	url := serveTo(t, site)
	_, preflight := send(t, "OPTIONS", url, site, http.Header{
		"Access-Control-Request-Method":  {"POST"},
		"Access-Control-Request-Headers": {sent},
	})
	_, refused := send(t, "POST", url, site, http.Header{})
	tests := []struct{ name, got, want string }{
		{"allowed method", preflight.Get("Access-Control-Allow-Methods"), "POST"},
		{"allowed headers", preflight.Get("Access-Control-Allow-Headers"), sent},
		{"seconds", preflight.Get("Access-Control-Max-Age"), strconv.Itoa(deployed.MaxAge)},
		{
			"headers to read", strings.ToLower(refused.Get("Access-Control-Expose-Headers")),
			strings.Join(deployed.ExposeHeaders, ", "),
		},
		{"what the answer depends on", refused.Get("Vary"), "Origin"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

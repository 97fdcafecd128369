package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore"
	"plantstore/internal/page"
)

func get(t *testing.T, handler http.Handler, method, path, host, accept string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	request.Host = host
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestPage(t *testing.T) {
	p, err := page.New(http.NotFoundHandler(), plantstore.OpenAPI, "garden.example:8080", `pst_"<token>`)
	if err != nil {
		t.Fatal(err)
	}
	const html = "text/html,application/xhtml+xml;q=0.9"
	tests := []struct {
		name, method, path, host, accept string
		status                           int
		body                             string // a part of it
	}{
		{"a browser", "GET", "/", "127.0.0.1:8080", html, 200, `data-token="pst_&#34;&lt;token&gt;"`},
		{"curl", "GET", "/", "127.0.0.1:8080", "*/*", 200, "swagger-ui-bundle.js"},
		{"the contract, of this very server", "GET", "/openapi.yaml", "localhost:8080", "*/*", 200, "\nservers:\n  - url: /\n"},
		{"a script", "GET", "/page.js", "localhost", "*/*", 200, "SwaggerUIBundle"},
		{"an icon", "GET", "/favicon-32x32.png", "[::1]:8080", "*/*", 200, "PNG"},
		{"another loopback address", "GET", "/", "127.1.2.3", html, 200, "<html"},
		{"a name in another case", "GET", "/", "LOCALHOST:8080", html, 200, "<html"},
		{"the host of --addr", "GET", "/", "garden.example:8080", html, 200, "<html"},

		{"a name that was bound to this machine", "GET", "/", "evil.example:8080", html, 403, "ask for it as 127.0.0.1"},
		{"a name that starts like ours", "GET", "/", "127.0.0.1.evil.example:8080", html, 403, "ask for it"},
		{"a name that ends like ours", "GET", "/", "evil.localhost:8080", html, 403, "ask for it"},
		{"an address of the network", "GET", "/", "192.168.1.2:8080", html, 403, "ask for it"},
		{"no host", "GET", "/", "", html, 403, "ask for it"},
		{"another file under another name", "GET", "/page.js", "evil.example", "*/*", 403, "ask for it"},

		{"a client that shows no pages", "GET", "/", "127.0.0.1:8080", "", 404, "404 page not found"},
		{"another method", "POST", "/", "127.0.0.1:8080", html, 404, "404 page not found"},
		{"another path", "GET", "/plants", "127.0.0.1:8080", html, 404, "404 page not found"},
		{"a file that the page does not use", "GET", "/swagger-ui.js", "127.0.0.1:8080", html, 404, "404 page not found"},
	}
	for _, test := range tests {
		got := get(t, p, test.method, test.path, test.host, test.accept)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.body) {
			t.Errorf("%s: %s %s of %s = %d, %.300s, want %d with %s", test.name, test.method, test.path, test.host, got.Code, got.Body, test.status, test.body)
		}
		for name, want := range guards {
			if value := got.Header().Get(name); got.Code == 200 && value != want {
				t.Errorf("%s: %s of %s = %q, want %q", test.name, name, test.path, value, want)
			}
		}
	}
}

// guards are the headers that every file of the page has.
var guards = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// No other site can read the HTML, whatever it can make of the scripts.
func TestTokenStandsInTheHTMLAlone(t *testing.T) {
	const token = "pst_ofThisRun"
	p, err := page.New(http.NotFoundHandler(), plantstore.OpenAPI, "", token)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/page.js", "/openapi.yaml", "/swagger-ui-bundle.js"} {
		got := get(t, p, http.MethodGet, path, "localhost", "*/*").Body.String()
		if strings.Contains(got, token) != (path == "/") {
			t.Errorf("GET %s holds the token = %t, want %t", path, path != "/", path == "/")
		}
	}
}

package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	openapi "plantstore"
	"plantstore/internal/page"
)

func TestPage(t *testing.T) {
	p, err := page.New(http.NotFoundHandler(), openapi.YAML, "plants.example:8080", `"<secret>`)
	if err != nil {
		t.Fatal(err)
	}
	const forbidden, passedOn = "served only on a loopback name", "404 page not found"
	tests := []struct {
		name, method, path, host, accept string
		status                           int
		body                             string // a part of it
	}{
		{"a browser", "GET", "/", "127.0.0.1:8080", "text/html", 200, `data-token="&#34;&lt;secret&gt;"`},
		{"any type", "GET", "/", "127.0.0.1:8080", "*/*", 200, "swagger-ui-bundle.js"},
		{"the contract with this server", "GET", "/openapi.yaml", "localhost:8080", "*/*", 200, "\nservers:\n  - url: /\nsecurity:\n"},
		{"the script", "GET", "/page.js", "localhost", "*/*", 200, "SwaggerUIBundle"},
		{"a compressed file", "GET", "/swagger-ui-bundle.js", "localhost", "*/*", 200, "\x1f\x8b"},
		{"the icon", "GET", "/favicon-32x32.png", "[::1]:8080", "*/*", 200, "PNG"},
		{"another loopback address", "GET", "/", "127.1.2.3", "*/*", 200, "<html"},
		{"a name in another case", "GET", "/", "LOCALHOST:8080", "*/*", 200, "<html"},
		{"the host of --addr", "GET", "/", "plants.example:8080", "*/*", 200, "<html"},

		{"a name bound to this machine", "GET", "/", "evil.example:8080", "*/*", 403, forbidden},
		{"a name that starts like ours", "GET", "/", "127.0.0.1.evil.example:8080", "*/*", 403, forbidden},
		{"a name that ends like ours", "GET", "/", "evil.localhost:8080", "*/*", 403, forbidden},
		{"an address of the network", "GET", "/", "192.168.1.2:8080", "*/*", 403, forbidden},
		{"no host", "GET", "/", "", "*/*", 403, forbidden},
		{"a script under another name", "GET", "/page.js", "evil.example", "*/*", 403, forbidden},

		{"no accepted type", "GET", "/", "127.0.0.1:8080", "", 404, passedOn},
		{"another method", "POST", "/", "127.0.0.1:8080", "*/*", 404, passedOn},
		{"another path", "GET", "/plants", "127.0.0.1:8080", "*/*", 404, passedOn},
		{"a file that the page does not use", "GET", "/swagger-ui.js", "127.0.0.1:8080", "*/*", 404, passedOn},
	}
	for _, test := range tests {
		request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, http.NoBody)
		request.Host = test.host
		request.Header.Set("Accept", test.accept)
		recorder := httptest.NewRecorder()
		p.ServeHTTP(recorder, request)
		got := recorder.Body.String()
		if recorder.Code != test.status || !strings.Contains(got, test.body) {
			t.Errorf("%s: %s %s from %s = %d, %.300q, want %d with %q",
				test.name, test.method, test.path, test.host, recorder.Code, got, test.status, test.body)
		}
		if test.status != http.StatusOK {
			continue
		}
		// Another site may run a script of this server, but can never read the HTML.
		if strings.Contains(got, "secret&") != (test.path == "/") || strings.Contains(got, "<secret>") {
			t.Errorf("%s: GET %s returns the token, or the page does not", test.name, test.path)
		}
		var header strings.Builder
		_ = recorder.Header().Write(&header) // to memory
		for _, part := range []string{
			"default-src 'none';", "script-src 'self';", "connect-src 'self';", "base-uri 'none';", "frame-ancestors 'none'",
			"Cache-Control: no-store", "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin",
			"Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
		} {
			if !strings.Contains(header.String(), part) {
				t.Errorf("%s: GET %s has headers\n%swithout %s", test.name, test.path, header.String(), part)
			}
		}
	}
}

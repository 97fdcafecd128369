package page_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	openapi "plantstore"
	"plantstore/internal/page"
)

// answer returns what a server at plants.example, which listens at this IP address, answers with the
// token "<secret>.
func answer(t *testing.T, listens, method, path, host, accept string) *httptest.ResponseRecorder {
	t.Helper()
	address := &net.TCPAddr{IP: net.ParseIP(listens)}
	p, err := page.New(http.NotFoundHandler(), openapi.YAML, "plants.example:8080", address, `"<secret>`)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	request.Host = host
	request.Header.Set("Accept", accept)
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, request)
	return recorder
}

// A browser gets the page under a name of this machine. The API gets the other requests.
func TestRequests(t *testing.T) {
	tests := []struct {
		name, method, path, host, accept string
		status                           int
	}{
		{"a browser", "GET", "/", "127.0.0.1:8080", "text/html", 200},
		{"a loopback address of IPv6", "GET", "/", "[::1]:8080", "*/*", 200},
		{"a name in another case", "GET", "/", "LOCALHOST:8080", "*/*", 200},
		{"the host of --addr", "GET", "/", "plants.example:8080", "*/*", 200},

		{"a name bound to this machine", "GET", "/", "evil.example:8080", "*/*", 403},
		{"a name that starts like ours", "GET", "/", "127.0.0.1.evil.example:8080", "*/*", 403},
		{"an address of the network", "GET", "/", "192.168.1.2:8080", "*/*", 403},

		{"no accepted type", "GET", "/", "127.0.0.1:8080", "", 404},
		{"another method", "POST", "/", "127.0.0.1:8080", "*/*", 404},
		{"another path", "GET", "/plants", "127.0.0.1:8080", "*/*", 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := answer(t, "127.0.0.1", test.method, test.path, test.host, test.accept)
			if got.Code != test.status {
				t.Errorf("%s %s from %q = %d, want %d", test.method, test.path, test.host, got.Code, test.status)
			}
			if got.Code != http.StatusOK && strings.Contains(got.Body.String(), "secret") {
				t.Errorf("%s %s from %q = %s, want no token", test.method, test.path, test.host, got.Body)
			}
		})
	}
}

// No other site can read, frame or script the page. Another site may be able to run a script of this
// server, but can never read the HTML. So the HTML alone has the token.
func TestFiles(t *testing.T) {
	tests := []struct {
		path  string
		part  string // of the file
		token bool
	}{
		{"/", `data-token="&#34;&lt;secret&gt;"`, true},
		{"/page.js", "SwaggerUIBundle", false},
		{"/openapi.yaml", "\nservers:\n  - url: /\nsecurity:\n", false},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			got := answer(t, "127.0.0.1", "GET", test.path, "localhost", "*/*")
			content := got.Body.String()
			if !strings.Contains(content, test.part) {
				t.Errorf("GET %s = %d, %.300q, want %q in it", test.path, got.Code, content, test.part)
			}
			if hasToken := strings.Contains(content, "secret"); hasToken != test.token {
				t.Errorf("GET %s has the token: %t, want %t", test.path, hasToken, test.token)
			}
			if readers := got.Header().Get("Cross-Origin-Resource-Policy"); readers != "same-origin" {
				t.Errorf("GET %s is for pages of %q, want same-origin", test.path, readers)
			}
			policy := got.Header().Get("Content-Security-Policy")
			for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
				if !slices.Contains(strings.Split(policy, "; "), directive) {
					t.Errorf("GET %s has the policy %q, want %q in it", test.path, policy, directive)
				}
			}
		})
	}
}

// The page has the token only if no other machine can request the page.
func TestToken(t *testing.T) {
	tests := []struct {
		name, listens string
		token         bool
	}{
		{"loopback of IPv6", "::1", true},
		{"every address", "0.0.0.0", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			content := answer(t, test.listens, "GET", "/", "localhost", "*/*").Body.String()
			if hasToken := strings.Contains(content, "secret"); hasToken != test.token {
				t.Errorf("at %s, the page has the token: %t, want %t", test.listens, hasToken, test.token)
			}
		})
	}
}

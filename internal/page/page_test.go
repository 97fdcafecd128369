package page_test

import (
	"cmp"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore/internal/page"
)

// A browser gets the page under a name of this machine. Only the HTML has the token, because another site may be
// able to run a script of this server. It has the token only if no other machine can request the page. TestPage in
// cmd/plantstore uses the page in a browser.
func TestRequests(t *testing.T) {
	const (
		token = `"<secret>`
		shown = `data-token="&#34;&lt;secret&gt;"`
	)
	tests := []struct {
		name    string
		listens string // "" for 127.0.0.1
		path    string // "" for /
		host    string
		accept  string
		status  int
		token   bool
	}{
		{name: "a browser", host: "127.0.0.1:8080", accept: "text/html", status: 200, token: true},
		{name: "a loopback address of IPv6", listens: "::1", host: "[::1]:8080", accept: "*/*", status: 200, token: true},
		{name: "a name in another case", host: "LOCALHOST:8080", accept: "*/*", status: 200, token: true},
		{name: "the host of --addr", host: "plants.example:8080", accept: "*/*", status: 200, token: true},
		{name: "a server at every address", listens: "0.0.0.0", host: "localhost", accept: "*/*", status: 200},
		{name: "a script", path: "/page.js", host: "localhost", accept: "*/*", status: 200},

		{name: "a name bound to this machine, which begins as its address", host: "127.0.0.1.evil.example", accept: "*/*", status: 403},
		{name: "a name bound to this machine, which begins as localhost", host: "localhost.evil.example", accept: "*/*", status: 403},
		{name: "an address of the network", host: "192.168.1.2:8080", accept: "*/*", status: 403},
		{name: "no accepted type goes to the API", host: "127.0.0.1:8080", status: 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			listens := &net.TCPAddr{IP: net.ParseIP(cmp.Or(test.listens, "127.0.0.1"))}
			p := page.NewHandler(http.NotFoundHandler(), "plants.example:8080", listens, token)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, cmp.Or(test.path, "/"), http.NoBody)
			request.Host = test.host
			request.Header.Set("Accept", test.accept)
			got := httptest.NewRecorder()
			p.ServeHTTP(got, request)
			if got.Code != test.status {
				t.Errorf("GET %s from %q = %d, want %d", test.path, test.host, got.Code, test.status)
			}
			content := got.Body.String()
			if strings.Contains(content, "secret") != test.token || strings.Contains(content, shown) != test.token {
				t.Errorf("GET %s from %q = %.300q, want %s in it: %t", test.path, test.host, content, shown, test.token)
			}
			if test.status == http.StatusOK {
				checkIsolated(t, got.Header())
			}
		})
	}
}

// checkIsolated checks that no other site can read, frame or script a file with these headers, and that the
// page loads nothing of another site.
func checkIsolated(t *testing.T, header http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// Package page serves the page of a Plant Store on this machine: Swagger UI on the contract, with
// which a person can read the API and try it. It loads nothing from elsewhere.
//
// The page may contain a token, so it is only for the person at this machine. It is served only if
// the Host header names this machine, which stops a site whose name was made to resolve to it (DNS
// rebinding), and no other origin can read, frame or script it. The API needs no such protection:
// without the page, no site has a token for it.
package page

import (
	"bytes"
	_ "embed" // for page.html and page.js
	"html"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/swaggest/swgui/v5/static"

	openapi "plantstore"
)

// Greeting is for the person who has read the address of the server.
const Greeting = "Open this address in a browser to read the contract and try it out."

// policy lets the page load from this server only, and run no inline script. Swagger UI's icons are
// data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html
var pageHTML []byte // in which {{TOKEN}} stands for the token

//go:embed page.js
var pageJS []byte

// file is the response to a GET of one path.
type file struct {
	contentType string
	content     []byte
}

// NewHandler returns a handler that serves the page and its files, and passes other requests to next. A request
// without an Accept header does not come from a browser, and is passed to next too. NewHandler serves the page only
// under loopback names and the host of address. The page contains token only if the server listens at a loopback
// address: at another one, other machines can request the page.
func NewHandler(next http.Handler, address string, listens net.Addr, token string) http.Handler {
	tcp, isTCP := listens.(*net.TCPAddr)
	if !isTCP || !tcp.IP.IsLoopback() {
		token = ""
	}
	files := newFiles(token)
	host, _, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, found := files[r.URL.Path]
		requested := (&url.URL{Host: r.Host}).Hostname()
		switch {
		case !found || r.Method != http.MethodGet || r.Header.Get("Accept") == "":
			next.ServeHTTP(w, r)
		case requested != host && !isLoopback(requested):
			const text = "This page is served only on a loopback name, such as 127.0.0.1, or the host of --addr."
			http.Error(w, text, http.StatusForbidden)
		default:
			f.serve(w)
		}
	})
}

// newFiles returns the page, with this token, and the files that it loads, by their paths.
func newFiles(token string) map[string]file {
	index := bytes.Replace(pageHTML, []byte("{{TOKEN}}"), []byte(html.EscapeString(token)), 1)
	files := map[string]file{
		"/":             {contentType: "text/html; charset=utf-8", content: index},
		"/page.js":      {contentType: "text/javascript; charset=utf-8", content: pageJS},
		"/openapi.yaml": {contentType: "application/yaml", content: openapi.YAML},
	}
	for path, contentType := range map[string]string{
		"swagger-ui-bundle.js.gz": "text/javascript; charset=utf-8",
		"swagger-ui.css.gz":       "text/css; charset=utf-8",
		"favicon-32x32.png":       "image/png",
	} {
		content, err := static.FS.ReadFile(path)
		if err != nil {
			panic(err) // the package of the files has changed: every test of the page fails
		}
		files["/"+strings.TrimSuffix(path, ".gz")] = file{contentType: contentType, content: content}
	}
	return files
}

// isLoopback reports whether host is localhost or a loopback address.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

func (f file) serve(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	if bytes.HasPrefix(f.content, []byte("\x1f\x8b")) {
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Cache-Control", "no-store") // the next run has another token
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(f.content) // it fails only if the client has gone
}

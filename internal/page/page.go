// Package page is the page of a Plant Store on this machine: the reference of the
// API from its contract, where each operation can be tried out. It is Swagger UI,
// of which nothing is fetched from elsewhere.
//
// The page may hold a token, so it is for the person at this machine alone. It
// is given only to who asks for it by a name of this machine: a site elsewhere
// whose name was made to resolve to it (DNS rebinding) is refused, and no other
// origin can read, frame or script it. The API needs no such care, as no site
// has a token for it but by the page.
package page

import (
	"bytes"
	_ "embed" // for the page's own files
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

// policy lets the page load and ask this server alone, and run no script that is
// written into the HTML. Swagger UI draws its icons from data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html
var html string

//go:embed page.js
var script []byte

// file is what is answered to the GET of a path.
type file struct {
	contentType string
	content     []byte
}

// Page is an [http.Handler] that stands before another.
type Page struct {
	next  http.Handler
	host  string
	files map[string]file // by path
}

// New returns a page on the contract in openapi, whose server becomes the one
// that serves the page. It answers under loopback names and under that of address,
// and hands the token over to the reader, if there is one. What it has no file for
// goes on to next.
func New(next http.Handler, openapi []byte, address, token string) (*Page, error) {
	var index bytes.Buffer
	if err := template.Must(template.New("page").Parse(html)).Execute(&index, token); err != nil {
		return nil, err
	}
	files := map[string]file{
		"/":             {"text/html; charset=utf-8", index.Bytes()},
		"/page.js":      {"text/javascript; charset=utf-8", script},
		"/openapi.yaml": {"application/yaml", bytes.Replace(openapi, []byte("url: '{base_url}'\n"), []byte("url: /\n"), 1)},
	}
	for path, contentType := range map[string]string{
		"swagger-ui-bundle.js.gz": "text/javascript; charset=utf-8",
		"swagger-ui.css.gz":       "text/css; charset=utf-8",
		"favicon-32x32.png":       "image/png",
	} {
		content, err := static.FS.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files["/"+strings.TrimSuffix(path, ".gz")] = file{contentType, content}
	}
	return &Page{next, name(address), files}, nil
}

// ServeHTTP answers with a file, or lets next answer. A client that names no type
// which it accepts shows no pages: it gets what API Gateway would answer.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, found := p.files[r.URL.Path]
	if !found || r.Method != http.MethodGet || r.Header.Get("Accept") == "" {
		p.next.ServeHTTP(w, r)
		return
	}
	if !p.isOurs(r.Host) {
		http.Error(w, "This page is for the machine that serves it: ask for it as 127.0.0.1 or localhost.", http.StatusForbidden)
		return
	}
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
	_, _ = w.Write(f.content) // a client that has gone needs no answer
}

// isOurs reports whether a Host header names this machine.
func (p *Page) isOurs(host string) bool {
	host = name(host)
	address, err := netip.ParseAddr(host)
	return host != "" && (host == p.host || strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback())
}

// name returns a host and port without the port.
func name(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

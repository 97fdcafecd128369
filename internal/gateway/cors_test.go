package gateway_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// TestCORS checks what a browser learns: whether a page may send a request, and then whether it may read the response.
func TestCORS(t *testing.T) {
	const page = "https://example.com"
	some := []string{"http://localhost:5173", page}
	none := http.Header{}
	varies := http.Header{"Vary": {"Origin"}}
	readable := http.Header{
		"Access-Control-Allow-Origin":   {page},
		"Access-Control-Expose-Headers": {"retry-after,idempotency-key,apigw-requestid"},
		"Vary":                          {"Origin"},
	}
	permitted := maps.Clone(readable)
	permitted.Set("Access-Control-Allow-Methods", "GET,POST") // of the routes of serve
	permitted.Set("Access-Control-Allow-Headers", "authorization,content-type,idempotency-key")
	permitted.Set("Access-Control-Max-Age", "7200")
	for _, test := range []struct {
		name      string
		allowed   []string
		method    string
		origin    string
		requested string // method
		status    int
		want      http.Header // Vary, and those of CORS
	}{
		{
			name: "a preflight request", allowed: some,
			method: "OPTIONS", origin: page, requested: "POST", status: 204, want: permitted,
		},
		{
			name: "a preflight request, if every origin is allowed", allowed: []string{"*"},
			method: "OPTIONS", origin: page, requested: "POST", status: 204, want: permitted,
		},
		{
			name: "a preflight request, if every https origin is allowed", allowed: []string{"https://*"},
			method: "OPTIONS", origin: page, requested: "POST", status: 204, want: permitted,
		},
		{
			name: "a preflight request from http, if every https origin is allowed", allowed: []string{"https://*"},
			method: "OPTIONS", origin: "http://a", requested: "POST", status: 204, want: varies,
		},
		{
			name: "a preflight request from an origin that begins like an allowed one", allowed: some,
			method: "OPTIONS", origin: page + ".evil", requested: "POST", status: 204, want: varies,
		},
		{
			name: "a preflight request, if no origin is allowed", allowed: nil,
			method: "OPTIONS", origin: page, requested: "POST", status: 404, want: none,
		},
		{
			name: "OPTIONS without an origin", allowed: some,
			method: "OPTIONS", origin: "", requested: "POST", status: 404, want: none,
		},
		{
			name: "OPTIONS without a method", allowed: some,
			method: "OPTIONS", origin: page, requested: "", status: 404, want: none,
		},
		{
			name: "a POST with the headers of a preflight request", allowed: some,
			method: "POST", origin: page, requested: "POST", status: 200, want: readable,
		},
		{
			name: "a request from another origin", allowed: some,
			method: "POST", origin: "https://evil.example", requested: "", status: 200, want: varies,
		},
		{
			name: "a request without an origin, if every origin is allowed", allowed: []string{"*"},
			method: "POST", origin: "", requested: "", status: 200, want: varies,
		},
		{
			name: "a request, if no origin is allowed", allowed: nil,
			method: "POST", origin: page, requested: "", status: 200, want: none,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "/plants", http.NoBody)
			r.Header.Set("Origin", test.origin)
			r.Header.Set("Access-Control-Request-Method", test.requested)
			authorizer := answers(allow)
			w := serve(r, authorizer, answers(ok), test.allowed...)
			got := w.Header().Clone()
			maps.DeleteFunc(got, func(name string, _ []string) bool {
				return name != "Vary" && !strings.HasPrefix(name, "Access-Control-")
			})
			if w.Code != test.status || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s = %d, %v, want %d, %v", test.method, w.Code, got, test.status, test.want)
			}
			if test.status == http.StatusNoContent && len(authorizer.events) > 0 {
				t.Error("preflight request invokes the authorizer")
			}
		})
	}
}

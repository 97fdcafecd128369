package gateway_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// page is the origin of a page that calls the API.
const page = "https://example.com"

// cors sends a request from an origin and returns the response. Its header has Vary and those of CORS.
func cors(method, origin, requested string, authorizer *function, allowed []string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/plants", http.NoBody)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", requested)
	w := serve(r, authorizer, answers(ok), allowed...)
	maps.DeleteFunc(w.Header(), func(name string, _ []string) bool {
		return name != "Vary" && !strings.HasPrefix(name, "Access-Control-")
	})
	return w
}

// A browser asks by a preflight request whether a page may send its request. The gateway answers it without the
// authorizer, and allows the request for an allowed origin only.
func TestPreflight(t *testing.T) {
	some := []string{"http://localhost:5173", page}
	varies := http.Header{"Vary": {"Origin"}}
	permitted := http.Header{
		"Access-Control-Allow-Origin":   {page},
		"Access-Control-Allow-Methods":  {"GET,POST"}, // the methods of the routes
		"Access-Control-Allow-Headers":  {"authorization,content-type,idempotency-key"},
		"Access-Control-Expose-Headers": {"retry-after,idempotency-key,apigw-requestid"},
		"Access-Control-Max-Age":        {"7200"},
		"Vary":                          {"Origin"},
	}
	for _, test := range []struct {
		name      string
		allowed   []string
		origin    string
		requested string // method
		status    int
		want      http.Header
	}{
		{name: "an allowed origin", allowed: some, origin: page, requested: "POST", status: 204, want: permitted},
		{name: "every origin", allowed: []string{"*"}, origin: page, requested: "POST", status: 204, want: permitted},
		{name: "every https origin", allowed: []string{"https://*"}, origin: page, requested: "POST", status: 204, want: permitted},
		{name: "http for https", allowed: []string{"https://*"}, origin: "http://a", requested: "POST", status: 204, want: varies},
		{name: "the beginning is allowed", allowed: some, origin: page + ".evil", requested: "POST", status: 204, want: varies},
		{name: "no origin is allowed", origin: page, requested: "POST", status: 404, want: http.Header{}},
		{name: "no origin", allowed: some, requested: "POST", status: 404, want: http.Header{}},
		{name: "no method", allowed: some, origin: page, status: 404, want: http.Header{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			authorizer := answers(allow)
			w := cors(http.MethodOptions, test.origin, test.requested, authorizer, test.allowed)
			if w.Code != test.status || !reflect.DeepEqual(w.Header(), test.want) {
				t.Errorf("OPTIONS = %d, %v, want %d, %v", w.Code, w.Header(), test.status, test.want)
			}
			if len(authorizer.events) > 0 {
				t.Error("OPTIONS invokes the authorizer")
			}
		})
	}
}

// A browser lets a page read the response only if the response names the origin of the page.
func TestCORS(t *testing.T) {
	varies := http.Header{"Vary": {"Origin"}}
	readable := http.Header{
		"Access-Control-Allow-Origin":   {page},
		"Access-Control-Expose-Headers": {"retry-after,idempotency-key,apigw-requestid"},
		"Vary":                          {"Origin"},
	}
	for _, test := range []struct {
		name    string
		allowed []string
		origin  string
		want    http.Header
	}{
		{name: "an allowed origin", allowed: []string{"http://localhost:5173", page}, origin: page, want: readable},
		{name: "another origin", allowed: []string{page}, origin: "https://evil.example", want: varies},
		{name: "no origin", allowed: []string{"*"}, want: varies},
		{name: "no origin is allowed", origin: page, want: http.Header{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := cors(http.MethodPost, test.origin, "POST", answers(allow), test.allowed)
			if w.Code != http.StatusOK || !reflect.DeepEqual(w.Header(), test.want) {
				t.Errorf("POST = %d, %v, want 200, %v", w.Code, w.Header(), test.want)
			}
		})
	}
}

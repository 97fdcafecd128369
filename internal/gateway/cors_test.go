package gateway

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// invoked is a Lambda function that allows, answers a header and counts.
type invoked int

func (f *invoked) Invoke(context.Context, []byte) ([]byte, error) {
	*f++
	return []byte(`{"isAuthorized":true,"statusCode":400,"headers":{"retry-after":"1"}}`), nil
}

// A browser asks whether a page may send a request, and then whether it may read the response.
func TestCORS(t *testing.T) {
	const page, none = "https://example.com", ""
	one, preflight := []string{"http://localhost:5173", page}, "POST"
	for _, test := range []struct {
		name                      string
		allowed                   []string
		method, origin, requested string
		status                    int
		want                      string // Access-Control-Allow-Origin
		invocations               invoked
	}{
		{"a preflight", one, "OPTIONS", page, preflight, 204, page, 0},
		{"a preflight from another origin", one, "OPTIONS", "https://example.com.evil", preflight, 204, none, 0},
		{"a preflight from an origin in another case", one, "OPTIONS", "https://Example.com", preflight, 204, none, 0},
		{"a preflight, if every origin is allowed", []string{"*"}, "OPTIONS", page, preflight, 204, page, 0},
		{"a preflight, if every https origin is allowed", []string{"https://*"}, "OPTIONS", page, preflight, 204, page, 0},
		{"a preflight from http, if every https origin is allowed", []string{"https://*"}, "OPTIONS", "http://localhost", preflight, 204, none, 0},
		{"OPTIONS without an origin", one, "OPTIONS", "", preflight, 404, none, 0},
		{"OPTIONS without a method", one, "OPTIONS", page, "", 404, none, 0},
		{"a preflight, if no origin is allowed", nil, "OPTIONS", page, preflight, 404, none, 0},
		{"a POST with the headers of a preflight", one, "POST", page, preflight, 400, page, 2},
		{"a request of another page", one, "POST", "https://evil.example", "", 400, none, 2},
		{"a request of no page, with all allowed", []string{"*"}, "POST", "", "", 400, none, 2},
		{"a request without CORS", nil, "POST", page, "", 400, none, 2},
	} {
		r, w, calls := httptest.NewRequest(test.method, "/plants", http.NoBody), httptest.NewRecorder(), new(invoked)
		for name, value := range map[string]string{"Origin": test.origin, "Access-Control-Request-Method": test.requested} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		New(Options{
			Authorizer: calls, Routes: map[string]Function{"POST /plants": calls}, Log: slog.New(slog.DiscardHandler),
			Now: time.Now, NewID: func() string { return "r1" }, AllowOrigins: test.allowed,
		}).ServeHTTP(w, r)
		want := map[string]string{}
		if test.want != "" {
			want = map[string]string{"Allow-Origin": test.want, "Expose-Headers": exposeHeaders}
		}
		if test.want != "" && test.status == http.StatusNoContent {
			want["Allow-Methods"], want["Allow-Headers"], want["Max-Age"] = allowMethods, allowHeaders, maxAge
		}
		got := map[string]string{}
		for name, values := range w.Header() {
			if name, ok := strings.CutPrefix(name, "Access-Control-"); ok {
				got[name] = strings.Join(values, ",")
			}
		}
		if w.Code != test.status || !maps.Equal(got, want) || *calls != test.invocations {
			t.Errorf("%s: %s = %d %v after %d calls, want %d %v after %d",
				test.name, test.method, w.Code, got, *calls, test.status, want, test.invocations)
		}
	}
}

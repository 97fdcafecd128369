package deployment

import (
	"net/http"
	"testing"
)

const origin = "https://allowed.example" // whose pages may call the API

// corsClaims are about pages of other origins.
var corsClaims = []claim{
	{name: "a page of an allowed origin may call the API, one of another may not", check: func(r *rehearsal, t *testing.T) string {
		for from, want := range map[string]string{origin: origin, "https://other.example": ""} {
			asked := http.Header{"Origin": {from}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization"}}
			for method, header := range map[string]http.Header{http.MethodOptions: asked, http.MethodPost: {"Origin": {from}}} {
				_, got, _ := r.send(t, method, "/plants", header, "")
				if allowed := got.Get("Access-Control-Allow-Origin"); allowed != want {
					t.Errorf("%s from %s allows the origin %q, want %q", method, from, allowed, want)
				}
			}
		}
		return "as AllowedOrigins says"
	}},
}

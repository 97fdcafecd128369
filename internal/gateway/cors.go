package gateway

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The CORS configuration of template.yaml. The gateway allows the methods of its routes.
const (
	allowHeaders  = "authorization,content-type,idempotency-key"
	exposeHeaders = "retry-after,idempotency-key,apigw-requestid"
	maxAge        = "7200"
)

// allow sets the CORS headers of a response to a request with this Origin, and reports whether it is
// allowed. Source, also of preflight: API Gateway Developer Guide, "Configure CORS for HTTP APIs in API
// Gateway". The guide does not mention Vary, without which a cache gives one origin's response to another.
func (g *Gateway) allow(response http.Header, origin string) bool {
	if len(g.AllowOrigins) == 0 {
		return false
	}
	response.Add("Vary", "Origin")
	for _, allowed := range g.AllowOrigins {
		prefix, wildcard := strings.CutSuffix(allowed, "*")
		if origin != "" && (origin == allowed || wildcard && strings.HasPrefix(origin, prefix)) {
			response.Set("Access-Control-Allow-Origin", origin)
			response.Set("Access-Control-Expose-Headers", exposeHeaders)
			return true
		}
	}
	return false
}

// isPreflight reports whether CORS is configured and r is a preflight request.
func (g *Gateway) isPreflight(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	method := r.Header.Get("Access-Control-Request-Method")
	return len(g.AllowOrigins) > 0 && r.Method == http.MethodOptions && origin != "" && method != ""
}

// answerPreflight answers a CORS preflight request, without a route or the authorizer.
func (g *Gateway) answerPreflight(w http.ResponseWriter, r *http.Request) {
	if g.allow(w.Header(), r.Header.Get("Origin")) {
		w.Header().Set("Access-Control-Allow-Methods", strings.Join(g.methods(), ","))
		w.Header().Set("Access-Control-Allow-Headers", allowHeaders)
		w.Header().Set("Access-Control-Max-Age", maxAge)
	}
	w.WriteHeader(http.StatusNoContent)
}

// methods returns the methods of the routes, each once.
func (g *Gateway) methods() []string {
	found := map[string]bool{}
	for _, routeKey := range g.Routes {
		method, _, _ := strings.Cut(routeKey, " ")
		found[method] = true
	}
	return slices.Sorted(maps.Keys(found))
}

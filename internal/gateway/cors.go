package gateway

import (
	"net/http"
	"strings"
)

// The CORS configuration in template.yaml.
const (
	allowMethods  = "POST"
	allowHeaders  = "authorization,content-type,idempotency-key"
	exposeHeaders = "retry-after,idempotency-key,apigw-requestid"
	maxAge        = "7200"
)

// allow sets the CORS headers of a response to a request with this Origin, if it is allowed. Source,
// also of preflight: API Gateway Developer Guide, "Configure CORS for HTTP APIs in API Gateway".
func (g *Gateway) allow(origin string, response http.Header) {
	for _, allowed := range g.AllowOrigins {
		prefix, wildcard := strings.CutSuffix(allowed, "*")
		if origin != "" && (origin == allowed || wildcard && strings.HasPrefix(origin, prefix)) {
			response.Set("Access-Control-Allow-Origin", origin)
			response.Set("Access-Control-Expose-Headers", exposeHeaders)
		}
	}
}

// preflight answers a CORS preflight request, without a route or the authorizer.
func (g *Gateway) preflight(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if g.AllowOrigins == nil || r.Method != http.MethodOptions || origin == "" ||
		r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	if g.allow(origin, w.Header()); w.Header().Get("Access-Control-Allow-Origin") != "" {
		w.Header().Set("Access-Control-Allow-Methods", allowMethods)
		w.Header().Set("Access-Control-Allow-Headers", allowHeaders)
		w.Header().Set("Access-Control-Max-Age", maxAge)
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

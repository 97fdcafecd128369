package main

import "testing"

// A server does not start for a malformed issuer. TestIssuer, in cmd/authorizer, shows that the issuer is asked.
func TestMalformedIssuer(t *testing.T) {
	t.Parallel()
	malformed := newTool(t, "TOKEN_ISSUER=plants", "TOKEN_AUDIENCE=plants")
	malformed.check(t, "serve", result{status: 2, stderr: ".*TOKEN_ISSUER and TOKEN_AUDIENCE: the issuer is not an https URL.*\n"})
}

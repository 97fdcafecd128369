package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// A server asks the issuer about a JWT, and starts for no malformed issuer.
func TestJWTs(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, os.Args[0], asCommand, "TOKEN_ISSUER=http://127.0.0.1:1", "TOKEN_AUDIENCE=plants")
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"k1"}`)) + ".e30.AA"
	_, got := processtest.Post(t, server.URL+"/plants", http.Header{"Authorization": {"Bearer " + jwt}})
	if want := `{"error":5003,`; !strings.HasPrefix(got, want) {
		t.Errorf("POST /plants = %s, want %s, because no issuer answers", got, want)
	}
	malformed := newTool(t, "TOKEN_ISSUER=plants", "TOKEN_AUDIENCE=plants")
	malformed.check(t, "serve", result{status: 2, stderr: ".*TOKEN_ISSUER and TOKEN_AUDIENCE: the issuer is not an https URL.*\n"})
}

package main

import (
	"encoding/base64"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// The authorizer asks the issuer of a JWT for its keys. TestMalformedIssuer, in cmd/plantstore, shows that a program
// does not start for a malformed one.
func TestIssuer(t *testing.T) {
	authorizer := processtest.Build(t, "cmd/authorizer")
	environment := processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens", "TOKEN_ISSUER=http://localhost:1",
		"TOKEN_AUDIENCE=plants")
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"k1"}`)) + ".e30.AA"
	got := processtest.Invoke(t, authorizer, environment, `{"headers":{"authorization":"Bearer `+jwt+`"}}`)
	if want := `"verdict":"unavailable"`; !strings.Contains(got[0], want) {
		t.Errorf("the authorizer answers %s, want %s, because no issuer answers", got[0], want)
	}
}

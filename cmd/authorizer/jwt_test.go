package main

import (
	"encoding/base64"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// The authorizer asks the issuer of a JWT for its keys, and does not start for a malformed issuer.
// TestJWTs, in cmd/plantstore, shows this of the other program that has an issuer.
func TestIssuer(t *testing.T) {
	authorizer := processtest.Build(t, "cmd/authorizer")
	environment := processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens", "TOKEN_ISSUER=http://localhost:1",
		"TOKEN_AUDIENCE=plants")
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"k1"}`)) + ".e30.AA"
	got := processtest.Invoke(t, authorizer, environment, `{"headers":{"authorization":"Bearer `+jwt+`"}}`)
	if want := `"verdict":"unavailable"`; !strings.Contains(got[0], want) {
		t.Errorf("the authorizer answers %s, want %s, because no issuer answers", got[0], want)
	}
	malformed := exec.CommandContext(t.Context(), authorizer)
	malformed.Env = slices.Concat(environment, []string{"TOKEN_AUDIENCE=", "AWS_LAMBDA_RUNTIME_API=127.0.0.1:1"})
	printed, _ := malformed.CombinedOutput() // the exit status says whether it failed
	const want = "TOKEN_ISSUER and TOKEN_AUDIENCE: issuer and audience must be set together"
	if status := malformed.ProcessState.ExitCode(); status != 1 || !strings.Contains(string(printed), want) {
		t.Errorf("exit status %d, log = %s, want 1 and %q", status, printed, want)
	}
}

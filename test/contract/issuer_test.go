package contract

import (
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// The authorizer reads both variables: with one alone, or each as the other, it logs something else.
func TestAuthorizerReadsIssuer(t *testing.T) {
	t.Parallel()
	function := exec.CommandContext(t.Context(), processtest.Build(t, "cmd/authorizer"))
	function.Env = processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens",
		"TOKEN_ISSUER=plants", "TOKEN_AUDIENCE=https://issuer.example")
	log, err := function.CombinedOutput()
	if err == nil || !strings.Contains(string(log), "the issuer is not an https URL") {
		t.Errorf("the authorizer ends with %v and logs %s, want an error about the issuer", err, log)
	}
}

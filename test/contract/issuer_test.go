package contract

import (
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// The authorizer reads both variables: it refuses what is wrong in one and right in the other.
func TestAuthorizerReadsIssuer(t *testing.T) {
	t.Parallel()
	binary := processtest.Build(t, "cmd/authorizer")
	for _, test := range []struct{ issuer, audience, want string }{
		{issuer: "plants", audience: "https://issuer.example", want: "the issuer is not an https URL"},
		{issuer: "https://issuer.example", audience: "plants,", want: "an audience is empty"},
	} {
		function := exec.CommandContext(t.Context(), binary)
		function.Env = processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens",
			"TOKEN_ISSUER="+test.issuer, "TOKEN_AUDIENCE="+test.audience)
		log, err := function.CombinedOutput()
		if err == nil || !strings.Contains(string(log), test.want) {
			t.Errorf("the authorizer ends with %v and logs %s, want the error %q", err, log, test.want)
		}
	}
}

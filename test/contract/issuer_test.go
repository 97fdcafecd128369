package contract

import (
	"encoding/base64"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// `plantstore serve` asks the issuer in its environment about a JWT. This one is away: whether the token
// is valid, nobody can tell. A service without an issuer refuses the token. internal/jwt tests the answer.
func TestServeAsksIssuer(t *testing.T) {
	t.Parallel()
	const away = "http://127.0.0.1:1"
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iss":%q,"aud":"plants","sub":"ann","exp":%d}`, away, time.Now().Add(time.Hour).Unix())
	token := encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"k1"}`)) + "." + encode([]byte(claims)) + "." + encode(make([]byte, 256))
	environment := append(processtest.InMemory(), "TOKEN_ISSUER="+away, "TOKEN_AUDIENCE=plants")
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), environment...)
	got := target{url: server.URL}.send(t, post(noPlant).with("Authorization", "Bearer "+token))
	if !strings.Contains(string(got.body), `"error":5003`) {
		t.Errorf("answer = %s, want the error 5003", got)
	}
}

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

package contract

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// An issuer that is away: whether its token is valid, nobody can tell. A service without an issuer refuses the token.
const awayIssuer = "http://127.0.0.1:1"

var awayVariables = []string{"TOKEN_ISSUER=" + awayIssuer, "TOKEN_AUDIENCE=plants"}

// awayToken returns a JWT access token that only its signature can show to be false.
func awayToken() string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iss":%q,"aud":"plants","sub":"ann","exp":%d}`, awayIssuer, time.Now().Add(time.Hour).Unix())
	return encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"k1"}`)) + "." + encode([]byte(claims)) + "." + encode(make([]byte, 256))
}

// `plantstore serve` asks the issuer in its environment about a JWT. internal/jwt tests the answer.
func TestServeAsksIssuer(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), append(processtest.InMemory(), awayVariables...)...)
	got := target{url: server.URL}.send(t, post(noPlant).with("Authorization", "Bearer "+awayToken()))
	if !strings.Contains(string(got.body), `"error":5003`) {
		t.Errorf("answer = %s, want the error 5003", got)
	}
}

// The built authorizer does the same.
func TestAuthorizerAsksIssuer(t *testing.T) {
	t.Parallel()
	environment := append(processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens"), awayVariables...)
	f, err := runtimeapi.Start(processtest.Build(t, "cmd/authorizer"), environment...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	got, _, err := f.Invoke(fmt.Appendf(nil, `{"headers":{"authorization":"Bearer %s"}}`, awayToken()), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), `"verdict":"unavailable"`) {
		t.Errorf("the authorizer answers %s, want the verdict unavailable", got)
	}
}

package issuertest_test

import (
	"testing"
	"time"

	"plantstore/internal/jwt"
	"plantstore/internal/token"
	"plantstore/test/issuertest"
)

// TestTokens checks the tokens of a certified provider.
func TestTokens(t *testing.T) {
	issuer := issuertest.Start(t, "127.0.0.1")
	tests := []struct {
		name     string
		token    string
		audience string
		subject  string // if the token is valid
		want     error
	}{
		{name: "a user's access token", token: "TOKEN", audience: issuer.Audience, subject: issuer.URL + " ann"},
		{name: "a client's access token", token: "OTHER_TOKEN", audience: issuer.Audience, subject: issuer.URL + " other"},
		{name: "an ID token", token: "ID_TOKEN", audience: "alice", want: token.ReasonType},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := jwt.New(issuer.URL, test.audience, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			p, err := v.Verify(t.Context(), issuer.Tokens[test.token])
			if err != test.want || p.Subject != test.subject { //nolint:errorlint // the reason itself
				t.Errorf("Verify = %+v, %v, want the subject %q, %v", p, err, test.subject, test.want)
			}
		})
	}
}

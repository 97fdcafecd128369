package issuertest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plantstore/internal/jwt"
	"plantstore/internal/token"
	"plantstore/test/issuertest"
)

// TestTokens checks the tokens of a certified provider, before and after it rotates
// its key.
func TestTokens(t *testing.T) {
	issuer, now := issuertest.Start(t, "127.0.0.1", "0"), time.Now()
	verifier := func(audience string) *jwt.Verifier {
		v, err := jwt.New(issuer.URL, audience, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := verifier(issuer.Audience)
	check := func(v *jwt.Verifier, name, bearer, subject string) {
		t.Helper()
		want := error(nil)
		if subject == "" {
			want = token.ErrInvalid
		} else {
			subject = issuer.URL + " " + subject
		}
		if p, err := v.Verify(t.Context(), bearer); !errors.Is(err, want) || p.Subject != subject {
			t.Errorf("%s: Verify = %+v, %v, want the subject %q, %v", name, p, err, subject, want)
		}
	}
	for name, subject := range map[string]string{
		"TOKEN": "ann", "OTHER_TOKEN": "other",
		"EXPIRED_TOKEN": "", "EARLY_TOKEN": "", "FOREIGN_TOKEN": "", "ID_TOKEN": "",
	} {
		check(v, name, issuer.Tokens[name], subject)
	}
	check(verifier("gardener"), "an ID token for our audience", issuer.Tokens["ID_TOKEN"], "")
	old := issuer.Tokens["TOKEN"]
	issuer.Stop()
	check(v, "the issuer is down", old, "ann")
	issuer = issuertest.Start(t, "127.0.0.1", issuer.URL[strings.LastIndex(issuer.URL, ":")+1:])
	check(v, "a new key within a minute", issuer.Tokens["TOKEN"], "")
	now = now.Add(time.Minute)
	check(v, "a new key after a minute", issuer.Tokens["TOKEN"], "ann")
	check(v, "the old key", old, "")
}

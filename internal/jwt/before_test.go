package jwt

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plantstore/internal/token"
)

// ours is the verifier of the tokens of this service, to which all tokens are valid.
type ours struct{}

func (ours) Verify(context.Context, string) (token.Principal, error) {
	return token.Principal{Subject: "alice"}, nil
}

func TestBefore(t *testing.T) {
	opaque := token.Seal(strings.Repeat("0", 36))
	configured := map[string]string{"TOKEN_ISSUER": issuerURL, "TOKEN_AUDIENCE": "plants"}
	tests := []struct {
		name        string
		environment map[string]string
		bearer      string
		want        error // nil if the verifier of this service is asked
	}{
		{name: "a token of this service", environment: configured, bearer: opaque},
		{name: "a mistyped token of this service", environment: configured, bearer: opaque[:45], want: token.ReasonForm},
		{name: "a JWT without a key id", environment: configured, bearer: newIssuer(t).token(draft{header: object{"kid": nil}}), want: reasonKey},
		{name: "any token, without an issuer and an audience", bearer: "eyJ.e30."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			verifier, err := Before(ours{}, func(name string) string { return test.environment[name] })
			if err != nil {
				t.Fatal(err)
			}
			got, err := verifier.Verify(t.Context(), test.bearer)
			if (got.Subject == "alice") != (test.want == nil) || !errors.Is(err, test.want) {
				t.Errorf("Verify(%q) = %+v, %v, want %v", test.bearer, got, err, test.want)
			}
		})
	}
}

func TestConfiguration(t *testing.T) {
	tests := []struct {
		name, issuer, audience string
		valid                  bool
	}{
		{name: "http on this machine", issuer: "http://localhost:8080", audience: "plants", valid: true},
		{name: "a slash at the end, as of Auth0", issuer: "https://x.auth0.com/", audience: "plants", valid: true},
		{name: "http on another machine", issuer: "http://localhost.example.com", audience: "plants"},
		{name: "another scheme", issuer: "ftp://127.0.0.1", audience: "plants"},
		{name: "no host", issuer: "https://:443", audience: "plants"},
		{name: "a space", issuer: "https://example.com/a b", audience: "plants"},
		{name: "a query", issuer: "https://example.com?tenant=1", audience: "plants"},
		{name: "no issuer", audience: "plants"},
		{name: "no audience", issuer: issuerURL},
		{name: "an empty audience among others", issuer: issuerURL, audience: "plants, ,animals"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			environment := map[string]string{"TOKEN_ISSUER": test.issuer, "TOKEN_AUDIENCE": test.audience}
			_, err := Before(ours{}, func(name string) string { return environment[name] })
			if (err == nil) != test.valid {
				t.Errorf("Before for the issuer %q and the audience %q = %v, want that they are valid: %t", test.issuer, test.audience, err, test.valid)
			}
		})
	}
}

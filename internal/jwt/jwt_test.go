package jwt

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"

	"plantstore/internal/token"
)

// serviceVerifier verifies the tokens of this service. All are valid.
type serviceVerifier struct{}

func (serviceVerifier) Verify(context.Context, string) (token.Principal, error) {
	return token.Principal{Subject: "alice"}, nil
}

func TestTokensOfThisService(t *testing.T) {
	opaque := token.Bearer(strings.Repeat("0", 12), strings.Repeat("0", 24))
	withoutKeyID := newIssuer(t).token(draft{header: object{"kid": nil}})
	tests := []struct {
		name, issuer, audience string
		bearer                 string
		want                   error // nil if the verifier of this service is asked
	}{
		{name: "a token of this service", issuer: issuerURL, audience: "plants", bearer: opaque},
		{name: "a mistyped token of this service", issuer: issuerURL, audience: "plants", bearer: opaque[:45], want: token.ReasonForm},
		{name: "a JWT without a key id", issuer: issuerURL, audience: "plants", bearer: withoutKeyID, want: reasonKey},
		{name: "any token, without an issuer and an audience", bearer: "eyJ.e30."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := AddIssuer(serviceVerifier{}, test.issuer, test.audience)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Verify(t.Context(), test.bearer)
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
			_, err := AddIssuer(serviceVerifier{}, test.issuer, test.audience)
			if (err == nil) != test.valid {
				t.Errorf("AddIssuer(%q, %q) = %v, want that they are valid: %t", test.issuer, test.audience, err, test.valid)
			}
		})
	}
}

func TestPrincipal(t *testing.T) {
	i := newIssuer(t)
	bearer := i.token(draft{})
	unfit := i.token(draft{claims: object{"jti": "a\nb"}})
	none := i.token(draft{claims: object{"jti": nil}})
	long := i.token(draft{claims: object{"jti": strings.Repeat("~", 256)}})
	tests := []struct{ name, bearer, id string }{
		{name: "a token with an id", bearer: bearer, id: "t1"},
		{name: "a token whose id has a line break gets its hash", bearer: unfit, id: token.Digest(unfit)},
		{name: "a token without an id gets its hash", bearer: none, id: token.Digest(none)},
		{name: "a token whose id has 256 characters gets its hash", bearer: long, id: token.Digest(long)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := token.Principal{Subject: issuerURL + " ann", TokenID: test.id}
			if got, err := i.verifier.Verify(t.Context(), test.bearer); got != want {
				t.Errorf("Verify = %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

// Each asymmetric algorithm of RFC 7518, section 3.1, and RFC 8037 is accepted.
func TestAlgorithms(t *testing.T) {
	i := newIssuer(t)
	for name := range strings.FieldsSeq("RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA") {
		if _, err := parse(i.token(draft{header: object{"alg": name}})); err != nil {
			t.Errorf("parse of a token with %s = %v, want nil", name, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	i, other := newIssuer(t), newIssuer(t)
	i.published = append(i.published, "text", object{"kty": "EC", "kid": "k1"}, other.published[0])
	stranger := newIssuer(t)
	null := jsontext.Value("null")
	noPart := func(signed string) string { return signed }
	emptyPart := func(signed string) string { return signed + "." }
	unusedBit := func(signed string) string {
		valid := i.sign(signed)
		return valid[:len(valid)-1] + string(valid[len(valid)-1]+1)
	}
	twice := func(signed string) string {
		header, _, _ := strings.Cut(signed, ".")
		return i.sign(header + "." + encode([]byte(`{"sub":"ann","sub":"bob"}`)))
	}
	i.check(t, []draft{
		{name: "the first key of an id, by RFC 9068's type"},
		{name: "the second key of an id", sign: other.sign},
		{name: "the algorithm none", header: object{"alg": "none"}, sign: emptyPart, want: reasonSignature},
		{name: "the signature for another algorithm", header: object{"alg": "RS256"}, want: reasonSignature},
		{name: "another key, which is in the token", header: object{"jwk": stranger.published[0]}, sign: stranger.sign, want: reasonSignature},
		{name: "a critical extension null", header: object{"crit": null}, want: token.ReasonForm},
		{name: "b64 null", header: object{"b64": null}, want: token.ReasonForm},
		{name: "two parts", sign: noPart, want: token.ReasonForm},
		{name: "a claim twice", sign: twice, want: token.ReasonForm},
		{name: "a bit set in what no byte of the signature uses", sign: unusedBit, want: token.ReasonForm},
	})
}

package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"

	"plantstore/internal/token"
)

func TestNew(t *testing.T) {
	tests := []struct {
		name, issuer, audience string
		valid                  bool
	}{
		{name: "Auth0", issuer: "https://example.eu.auth0.com/", audience: "plants", valid: true},
		{name: "the longest issuer", issuer: "https://" + strings.Repeat("a", 247), audience: "plants", valid: true},
		{name: "http on this machine", issuer: "http://127.0.0.1:8080", audience: "plants", valid: true},
		{name: "http on this machine, by IPv6", issuer: "http://[::1]:8080", audience: "plants", valid: true},
		{name: "http on this machine, by name", issuer: "http://localhost:8080", audience: "plants", valid: true},
		{name: "http on the host of a container", issuer: "http://host.docker.internal:8080", audience: "plants", valid: true},

		{name: "no issuer", audience: "plants"},
		{name: "an empty audience among others", issuer: issuerURL, audience: "plants, ,animals"},
		{name: "no audience", issuer: issuerURL},
		{name: "an issuer that is too long", issuer: "https://" + strings.Repeat("a", 248), audience: "plants"},
		{name: "another scheme", issuer: "ftp://127.0.0.1", audience: "plants"},
		{name: "no host", issuer: "https://:443", audience: "plants"},
		{name: "a malformed host", issuer: "https://%zz", audience: "plants"},
		{name: "http on another machine", issuer: "http://localhost.example.com", audience: "plants"},
		{name: "a space", issuer: "https://example.com/a b", audience: "plants"},
		{name: "a query", issuer: "https://example.com?tenant=1", audience: "plants"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := New(test.issuer, test.audience, time.Now)
			if (v != nil) != test.valid || (err == nil) != test.valid {
				t.Errorf("New(%q, %q) = %v, %v, want valid: %t", test.issuer, test.audience, v, err, test.valid)
			}
		})
	}
}

// row is a token that differs from a valid one.
type row struct {
	name   string
	sign   signer // the key k1, if nil
	header object // changes
	claims object // changes
	want   error

	hashed bool // the token id is the token's SHA-256
}

// checkRows verifies the tokens of rows by an issuer with the key k1.
func checkRows(t *testing.T, i *issuer, k1 signer, rows []row) {
	t.Helper()
	v := i.verifier(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			sign := k1
			if row.sign != nil {
				sign = row.sign
			}
			bearer := i.token(t, sign, row.header, row.claims)
			p, err := v.Verify(t.Context(), bearer)
			if !errors.Is(err, row.want) {
				t.Errorf("Verify = %v, want %v", err, row.want)
			}
			id := "t1" // of the token
			if row.want != nil {
				id = ""
			}
			if row.hashed {
				id = hex.EncodeToString(digest(bearer))
			}
			if p.TokenID != id {
				t.Errorf("Verify = %+v, want the token id %q", p, id)
			}
		})
	}
}

func TestAccessTokens(t *testing.T) {
	i, k1 := newIssuer()
	plain := object{"typ": "JWT"}
	untyped := object{"typ": nil}
	cognito := object{"token_use": "access", "aud": nil, "client_id": "plants"}
	checkRows(t, i, k1, []row{
		{name: "RFC 9068's type"},
		{name: "RFC 9068's long type", header: object{"typ": "application/AT+JWT"}},
		{name: "Cognito's access token", header: untyped, claims: cognito},
		{name: "Keycloak's access token", header: plain, claims: object{"typ": "Bearer"}},
		{name: "Okta's access token", header: untyped, claims: object{"scp": []string{"read"}}},
		{name: "Entra's access token for a user", header: plain, claims: object{"scp": "read"}},
		{name: "Entra's access token for an application", header: plain, claims: object{"idtyp": "app"}},

		{name: "an ID token", header: plain, claims: object{"nonce": "n", "azp": "plants"}, want: token.ReasonType},
		{name: "Cognito's ID token", header: untyped, claims: object{"token_use": "id", "scp": "read"}, want: token.ReasonType},
		{name: "Keycloak's ID token", header: plain, claims: object{"typ": "ID", "scp": "read"}, want: token.ReasonType},
		{name: "a logout token", header: object{"typ": "logout+jwt"}, claims: object{"scp": "read"}, want: token.ReasonType},
		{name: "a token of a key of the client", claims: object{"cnf": object{"jkt": "x"}}, want: token.ReasonType},
		{name: "an empty scope", header: plain, claims: object{"scp": ""}, want: token.ReasonType},
		{name: "the name scp in another case", header: plain, claims: object{"Scp": "read"}, want: token.ReasonType},
		{name: "a scope that is no text", header: plain, claims: object{"scp": true}, want: token.ReasonForm},
	})
}

func TestClaims(t *testing.T) {
	i, k1 := newIssuer()
	now := noon.Unix()
	none := []string{}
	checkRows(t, i, k1, []row{
		{name: "one of several audiences", claims: object{"aud": []string{"a", "plants"}}},
		{name: "another audience, our client", claims: object{"aud": "a", "client_id": "plants"}, want: token.ReasonAudience},
		{name: "the second of our audiences", claims: object{"aud": "herbs"}},
		{name: "no audience, the second of our clients", claims: object{"aud": nil, "client_id": "herbs"}},
		{name: "the list of our audiences", claims: object{"aud": "plants,herbs"}, want: token.ReasonAudience},
		{name: "a null audience, our client", claims: object{"aud": null, "client_id": "plants"}, want: token.ReasonAudience},
		{name: "an empty audience, our client", claims: object{"aud": none, "client_id": "plants"}, want: token.ReasonAudience},
		{name: "no audience, another client", claims: object{"aud": nil, "client_id": "animals"}, want: token.ReasonAudience},
		{name: "another issuer", claims: object{"iss": issuerURL + "/"}, want: token.ReasonIssuer},

		{name: "expired now", claims: object{"exp": now}, want: token.ReasonExpired},
		{name: "no expiry", claims: object{"exp": nil}, want: token.ReasonExpired},
		{name: "valid in a minute", claims: object{"nbf": now + 60}},
		{name: "valid in more than a minute", claims: object{"nbf": now + 61}, want: token.ReasonNotYetValid},
		{name: "no start", claims: object{"nbf": nil}},

		{name: "the longest subject", claims: object{"sub": strings.Repeat("~", 255)}},
		{name: "a longer subject", claims: object{"sub": strings.Repeat("~", 256)}, want: token.ReasonSubject},
		{name: "no subject", claims: object{"sub": nil}, want: token.ReasonSubject},
		{name: "a space in the subject", claims: object{"sub": "ann b"}, want: token.ReasonSubject},

		{name: "no token id", claims: object{"jti": nil}, hashed: true},
		{name: "a line break in the token id", claims: object{"jti": "a\nb"}, hashed: true},
		{name: "a token id of 256 characters", claims: object{"jti": strings.Repeat("~", 256)}, hashed: true},
	})
}

func TestSignatures(t *testing.T) {
	i, k1 := newIssuer()
	other := new(issuer)
	stranger := other.newKey("k1", nil)
	i.published = append([]any{"text", object{"kty": "EC", "kid": "k1"}}, i.published...)
	second := i.newKey("k1", nil)
	checkRows(t, i, k1, []row{
		{name: "the first key of an id"},
		{name: "the second key of an id", sign: second},
		{name: "the algorithm none", sign: unsigned, header: object{"alg": "none"}, want: token.ReasonSignature},
		{name: "an algorithm with a secret", header: object{"alg": "HS256"}, want: token.ReasonSignature},
		{name: "the algorithm's name by RFC 9864", header: object{"alg": "Ed25519"}, want: token.ReasonSignature},
		{name: "the signature for another algorithm", header: object{"alg": "RS256"}, want: token.ReasonSignature},
		{name: "another key", sign: stranger, want: token.ReasonSignature},
		{name: "a key in the token", sign: stranger, header: object{"jwk": other.published[0]}, want: token.ReasonSignature},
		{name: "a critical extension", header: object{"crit": []string{"x"}, "x": 1}, want: token.ReasonForm},
		{name: "a critical extension null", header: object{"crit": null}, want: token.ReasonForm},
		{name: "b64 that is not critical", header: object{"b64": true}, want: token.ReasonForm},
		{name: "b64 null", header: object{"b64": null}, want: token.ReasonForm},
	})
}

// A token with ES256 is verified by a key that may verify it, and by no other.
func TestKeys(t *testing.T) {
	tests := []struct {
		name    string
		changes object // to the published key
		want    error
	}{
		{name: "a key that names nothing"},
		{name: "a key for ES256", changes: object{"alg": "ES256"}},
		{name: "a key for another algorithm", changes: object{"alg": "ES384"}, want: token.ReasonSignature},
		{name: "a key for encryption", changes: object{"use": "enc"}, want: token.ReasonKey},
		{name: "a key that may verify", changes: object{"key_ops": []string{"encrypt", "verify"}}},
		{name: "a key that may only encrypt", changes: object{"key_ops": []string{"encrypt"}}, want: token.ReasonKey},
		{name: "a key that may do nothing", changes: object{"key_ops": []string{}}, want: token.ReasonKey},
		{name: "operations that are no list", changes: object{"key_ops": "verify"}, want: token.ReasonKey},
		{name: "an unknown kind", changes: object{"kty": "unknown"}, want: token.ReasonKey},
		{name: "a secret", changes: object{"kty": "oct", "k": "AAAA"}, want: token.ReasonKey},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, _ := newIssuer()
			k2 := i.newKey("k2", test.changes)
			checkRows(t, i, k2, []row{{name: "a token", header: object{"kid": "k2"}, want: test.want}})
		})
	}
}

// Each kind of key and of signature is accepted, except an RSA key that is too short.
func TestAlgorithms(t *testing.T) {
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048) // crypto/rand does not fail
	shortKey, _ := rsa.GenerateKey(rand.Reader, 1024)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, ed25519Key, _ := ed25519.GenerateKey(rand.Reader)
	tests := []struct {
		name      string
		algorithm jose.SignatureAlgorithm
		key       crypto.Signer
		want      error
	}{
		{name: "RSA with PKCS #1", algorithm: jose.RS256, key: rsaKey},
		{name: "RSA with PSS", algorithm: jose.PS512, key: rsaKey},
		{name: "RSA with 1,024 bits", algorithm: jose.RS256, key: shortKey, want: token.ReasonKey},
		{name: "ECDSA on P-384", algorithm: jose.ES384, key: p384},
		{name: "EdDSA on Ed25519", algorithm: jose.EdDSA, key: ed25519Key},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, _ := newIssuer()
			i.published = append(i.published, jose.JSONWebKey{Key: test.key.Public(), KeyID: "k2"})
			private := jose.SigningKey{Algorithm: test.algorithm, Key: jose.JSONWebKey{Key: test.key, KeyID: "k2"}}
			signer, err := jose.NewSigner(private, new(jose.SignerOptions).WithType("at+jwt"))
			if err != nil {
				t.Fatal(err)
			}
			claims := map[string]any{"iss": issuerURL, "aud": "plants", "sub": "ann", "exp": 9e9}
			bearer, err := josejwt.Signed(signer).Claims(claims).Serialize()
			if err != nil {
				t.Fatal(err)
			}
			p, err := i.verifier(t).Verify(t.Context(), bearer)
			if !errors.Is(err, test.want) {
				t.Errorf("Verify = %+v, %v, want %v", p, err, test.want)
			}
			if err == nil && p.Subject != issuerURL+" ann" {
				t.Errorf("Verify = %+v, want the subject ann", p)
			}
		})
	}
}

// A token is in compact form, with claims that are each there once.
func TestForms(t *testing.T) {
	i, k1 := newIssuer()
	valid := i.token(t, k1, nil, nil)
	header, rest, _ := strings.Cut(valid, ".")
	payload, _, _ := strings.Cut(rest, ".")
	claims, _ := base64.RawURLEncoding.DecodeString(payload) // as i.token encodes it
	twice := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"bob",` + string(claims[1:])))
	tests := []struct{ name, bearer string }{
		{"a claim twice", k1(header + "." + twice)},
		{"two parts", header + "." + payload},
		{"a bit set in what no byte of the signature uses", valid[:len(valid)-1] + string(valid[len(valid)-1]+1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := i.verifier(t).Verify(t.Context(), test.bearer)
			if !errors.Is(err, token.ReasonForm) {
				t.Errorf("Verify = %+v, %v, want %v", p, err, token.ReasonForm)
			}
		})
	}
}

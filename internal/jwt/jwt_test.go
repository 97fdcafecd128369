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
	"encoding/json/jsontext"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"

	"plantstore/internal/token"
)

func TestNew(t *testing.T) {
	valid := []string{
		"https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc",
		"https://example.eu.auth0.com/", "https://" + strings.Repeat("a", 247),
		"http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080", "http://host.docker.internal:8080",
	}
	for _, issuer := range valid {
		if v, err := New(issuer, "plants", time.Now); v == nil || err != nil {
			t.Errorf("New(%q) = %v, %v, want a Verifier", issuer, v, err)
		}
	}
	invalid := []string{
		"", "https://", "https://:443", "https://%zz", "https://" + strings.Repeat("a", 248), "example.com",
		"http://example.com", "http://localhost.example.com", "ftp://127.0.0.1", "https://user@example.com",
		"https://example.com/a b", "https://example.com#", "https://example.com?tenant=1",
	}
	for _, issuer := range invalid {
		if _, err := New(issuer, "plants", time.Now); err == nil {
			t.Errorf("New(%q) = nil, want an error", issuer)
		}
	}
	if _, err := New(issuerURL, "", time.Now); err == nil {
		t.Error("New without an audience = nil, want an error")
	}
	if none, err := New("", "", time.Now); none != nil || err != nil {
		t.Errorf("New without issuer and audience = %v, %v, want neither", none, err)
	}
}

// row is a token that differs from a valid one.
type row struct {
	name   string
	sign   signer // the key k1, if nil
	header object // changes
	claims object // changes
	want   error
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
			p, err := v.Verify(t.Context(), i.token(t, sign, row.header, row.claims))
			if !errors.Is(err, row.want) || (err == nil) != (p.TokenID == "t1") {
				t.Errorf("Verify = %+v, %v, want %v", p, err, row.want)
			}
		})
	}
}

func TestAccessTokens(t *testing.T) {
	i, k1 := newIssuer()
	checkRows(t, i, k1, []row{
		{name: "RFC 9068's type"},
		{name: "RFC 9068's long type", header: object{"typ": "application/AT+JWT"}},
		{name: "Cognito's access token", header: object{"typ": nil}, claims: object{"token_use": "access", "aud": nil, "client_id": "plants"}},
		{name: "Keycloak's access token", header: object{"typ": "JWT"}, claims: object{"typ": "Bearer"}},
		{name: "Okta's access token", header: object{"typ": nil}, claims: object{"scp": []string{"read"}}},
		{name: "Entra's access token for a user", header: object{"typ": "JWT"}, claims: object{"scp": "read"}},
		{name: "Entra's access token for an application", header: object{"typ": "JWT"}, claims: object{"idtyp": "app"}},

		{name: "an ID token", header: object{"typ": "JWT"}, claims: object{"nonce": "n", "azp": "plants"}, want: token.ReasonType},
		{name: "an ID token without a type", header: object{"typ": nil}, want: token.ReasonType},
		{name: "Cognito's ID token", header: object{"typ": nil}, claims: object{"token_use": "id", "scp": "read"}, want: token.ReasonType},
		{name: "Keycloak's ID token", header: object{"typ": "JWT"}, claims: object{"typ": "ID", "scp": "read"}, want: token.ReasonType},
		{name: "a logout token", header: object{"typ": "logout+jwt"}, claims: object{"scp": "read"}, want: token.ReasonType},
		{name: "a token of a key of the client", claims: object{"cnf": object{"jkt": "x"}}, want: token.ReasonType},
		{name: "null for the scopes", header: object{"typ": "JWT"}, claims: object{"scp": jsontext.Value("null")}, want: token.ReasonType},
		{name: "an empty scope", header: object{"typ": "JWT"}, claims: object{"scp": ""}, want: token.ReasonType},
		{name: "an empty list of scopes", header: object{"typ": "JWT"}, claims: object{"scp": []string{}}, want: token.ReasonType},
		{name: "the name scp in another case", header: object{"typ": "JWT"}, claims: object{"Scp": "read"}, want: token.ReasonType},
		{name: "a scope that is no text", header: object{"typ": "JWT"}, claims: object{"scp": true}, want: token.ReasonMalformed},
	})
}

func TestClaims(t *testing.T) {
	i, k1 := newIssuer()
	now := noon.Unix()
	deep := jsontext.Value(strings.Repeat("[", 3500) + strings.Repeat("]", 3500)) // as headers of 10 KB can be
	checkRows(t, i, k1, []row{
		{name: "a token of 9 KB", claims: object{"groups": strings.Repeat("g", 6500)}},
		{name: "a deep claim, CVE-2026-116586", claims: object{"x": deep}},
		{name: "a deep header, CVE-2026-116586", header: object{"x": deep}},

		{name: "one of several audiences", claims: object{"aud": []string{"a", "plants"}}},
		{name: "another audience", claims: object{"aud": "animals"}, want: token.ReasonAudience},
		{name: "other audiences, and our client", claims: object{"aud": []string{"a"}, "client_id": "plants"}, want: token.ReasonAudience},
		{name: "an empty list of audiences, and our client", claims: object{"aud": []string{}, "client_id": "plants"}, want: token.ReasonAudience},
		{name: "no audience and no client", claims: object{"aud": nil}, want: token.ReasonAudience},
		{name: "no audience, another client", claims: object{"aud": nil, "client_id": "animals"}, want: token.ReasonAudience},
		{name: "an audience in a list in a list", claims: object{"aud": [][]string{{"plants"}}}, want: token.ReasonMalformed},
		{name: "another issuer", claims: object{"iss": issuerURL + "/"}, want: token.ReasonIssuer},

		{name: "expired now", claims: object{"exp": now}, want: token.ReasonExpired},
		{name: "no expiry", claims: object{"exp": nil}, want: token.ReasonExpired},
		{name: "an expiry beyond every number", claims: object{"exp": jsontext.Value("1e400")}, want: token.ReasonMalformed},
		{name: "valid in a minute", claims: object{"nbf": now + leeway}},
		{name: "valid in more than a minute", claims: object{"nbf": now + leeway + 1}, want: token.ReasonNotYetValid},
		{name: "no start", claims: object{"nbf": nil}},

		{name: "the longest subject", claims: object{"sub": strings.Repeat("~", 255)}},
		{name: "a longer subject", claims: object{"sub": strings.Repeat("~", 256)}, want: token.ReasonSubject},
		{name: "no subject", claims: object{"sub": nil}, want: token.ReasonSubject},
		{name: "a space in the subject", claims: object{"sub": "ann b"}, want: token.ReasonSubject},
		{name: "a subject that is no text", claims: object{"sub": 1}, want: token.ReasonMalformed},
	})
}

func TestSignatures(t *testing.T) {
	i, k1 := newIssuer()
	other := new(issuer)
	stranger := other.newKey("k1")
	i.published = append([]any{"text", object{"kty": "EC", "kid": "k1"}}, i.published...)
	second := i.newKey("k1")
	checkRows(t, i, k1, []row{
		{name: "the second key of an id", sign: second},
		{name: "no signature", sign: unsigned, want: token.ReasonSignature},
		{name: "the algorithm none", sign: unsigned, header: object{"alg": "none"}, want: token.ReasonSignature},
		{name: "the algorithm None with a signature", header: object{"alg": "None"}, want: token.ReasonSignature},
		{name: "no algorithm", header: object{"alg": nil}, want: token.ReasonSignature},
		{name: "an algorithm with a secret", header: object{"alg": "HS256"}, want: token.ReasonSignature},
		{name: "the algorithm's name by RFC 9864", header: object{"alg": "Ed25519"}, want: token.ReasonSignature},
		{name: "the signature for another algorithm", header: object{"alg": "RS256"}, want: token.ReasonSignature},
		{name: "another key", sign: stranger, want: token.ReasonSignature},
		{name: "another key that the token brings", sign: stranger, header: object{"jwk": other.published[0]}, want: token.ReasonSignature},
		{name: "another key at a URL", sign: stranger, header: object{"jku": issuerURL + keysPath, "x5u": issuerURL}, want: token.ReasonSignature},
		{name: "an unknown key", sign: stranger, header: object{"kid": "k2"}, want: token.ReasonKey},
		{name: "no key", header: object{"kid": nil}, want: token.ReasonKey},
		{name: "a critical extension", header: object{"crit": []string{"x"}, "x": 1}, want: token.ReasonMalformed},
		{name: "the critical extension b64", header: object{"crit": []string{"b64"}, "b64": true}, want: token.ReasonMalformed},
		{name: "b64 that is not critical", header: object{"b64": true}, want: token.ReasonMalformed},
	})
}

// TestKeys checks which keys of an issuer verify a token with ES256.
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
		{name: "a key without a curve", changes: object{"crv": nil}, want: token.ReasonKey},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, _ := newIssuer()
			k2 := i.newKey("k2")
			maps.Copy(i.published[1].(object), test.changes)
			checkRows(t, i, k2, []row{{name: "a token", header: object{"kid": "k2"}, want: test.want}})
		})
	}
}

// TestAlgorithms checks each kind of key and of signature.
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
			if p, err := i.verifier(t).Verify(t.Context(), bearer); !errors.Is(err, test.want) {
				t.Errorf("Verify = %+v, %v, want %v", p, err, test.want)
			}
		})
	}
}

// TestForms checks what is not one signed token in compact form, and payloads that are not one JSON
// object.
func TestForms(t *testing.T) {
	i, k1 := newIssuer()
	v, valid := i.verifier(t), i.token(t, k1, nil, nil)
	header, rest, _ := strings.Cut(valid, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	claims := func(text string) string { return k1(header + "." + base64.RawURLEncoding.EncodeToString([]byte(text))) }
	complete := `"iss":"` + issuerURL + `","aud":"plants","exp":9e9,"sub":"ann"`
	tests := []struct {
		name   string
		bearer string
		want   error
	}{
		{"these claims, complete", claims(`{` + complete + `}`), nil},
		{"a claim twice", claims(`{` + complete + `,"sub":"bob"}`), token.ReasonMalformed},
		{"claims that are not UTF-8", claims(`{` + complete + `,"x":"` + "\xff" + `"}`), token.ReasonMalformed},
		{"text after the claims", claims(`{` + complete + `}{}`), token.ReasonMalformed},
		{"claims in a list", claims(`[{` + complete + `}]`), token.ReasonMalformed},
		{"nothing", "", token.ReasonMalformed},
		{"two parts", header + "." + payload, token.ReasonMalformed},
		{"four parts", valid + ".", token.ReasonMalformed},
		{"a space", " " + valid, token.ReasonMalformed},
		{"a bit after the signature", valid[:len(valid)-1] + string(valid[len(valid)-1]+1), token.ReasonMalformed},
		{"padding", valid + "=", token.ReasonMalformed},
		{"JSON", `{"protected":"` + header + `","payload":"` + payload + `","signature":"` + signature + `"}`, token.ReasonMalformed},
		{"a detached payload", header + ".." + signature, token.ReasonSignature},
		{"a header that is no JSON", header[:7] + "." + payload + "." + signature, token.ReasonMalformed},
		{"many periods, CVE-2025-27144", strings.Repeat(".", 10_000), token.ReasonMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if p, err := v.Verify(t.Context(), test.bearer); !errors.Is(err, test.want) {
				t.Errorf("Verify = %+v, %v, want %v", p, err, test.want)
			}
		})
	}
}

// TestPrincipal checks that a token without an id gets one for the log, and that no opaque token can
// have the subject of a JWT.
func TestPrincipal(t *testing.T) {
	i, k1 := newIssuer()
	for _, id := range []any{nil, "", "a\nb", strings.Repeat("~", 256)} {
		bearer := i.token(t, k1, nil, object{"jti": id})
		want := token.Principal{Subject: issuerURL + " ann", TokenID: hex.EncodeToString(digest(bearer))}
		if got, err := i.verifier(t).Verify(t.Context(), bearer); err != nil || got != want {
			t.Errorf("Verify of a token with the id %q = %+v, %v, want %+v", id, got, err, want)
		}
	}
	if _, _, err := token.Issue(rand.Reader, issuerURL+" ann", noon, time.Hour); err == nil {
		t.Error("an opaque token can have the subject of a JWT, want an error")
	}
}

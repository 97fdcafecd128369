package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/pem"
	"errors"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

func TestNew(t *testing.T) {
	for issuer, want := range map[string]bool{
		"https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc": true,
		"https://example.eu.auth0.com/":                                   true,
		"http://127.0.0.1:8080":                                           true,
		"http://[::1]:8080":                                               true,
		"http://localhost:8080":                                           true,
		"http://host.docker.internal:8080":                                true,

		"http://example.com":                  false,
		"http://localhost.example.com":        false,
		"ftp://127.0.0.1":                     false,
		"example.com":                         false,
		"https://":                            false,
		"https://example.com/a b":             false,
		"https://example.com#a":               false,
		"https://example.com?tenant=1":        false,
		"https://user@example.com":            false,
		"https://%zz":                         false,
		"https://" + strings.Repeat("a", 248): false,
	} {
		if _, err := New(issuer, "plants", time.Now); (err == nil) != want {
			t.Errorf("New(%q) = %v, want valid %t", issuer, err, want)
		}
	}
}

// TestVerify checks tokens that differ from a valid one.
func TestVerify(t *testing.T) {
	i, k1 := newIssuer(t)
	other := new(issuer)
	stranger := other.newKey("k1")
	der, err := x509.MarshalPKIXPublicKey(i.keys[0].(jose.JSONWebKey).Key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	encryption := i.newKey("encryption")
	key := i.keys[1].(jose.JSONWebKey)
	key.Use = "enc"
	i.keys[1] = key
	v, now := i.verifier(t), i.now.Unix()
	raw := func(text string) jsontext.Value { return jsontext.Value(text) }
	none := object(nil)
	type o = object
	for _, test := range []struct {
		name           string
		sign           signer
		header, claims object
		valid          bool
	}{
		{"a valid token", k1, none, none, true},
		{"a token of 9 KB", k1, none, o{"groups": strings.Repeat("g", 6500)}, true},

		// An access token says so.
		{"RFC 9068's long type", k1, o{"typ": "application/AT+JWT"}, none, true},
		{"Cognito's access token", k1, o{"typ": nil}, o{"token_use": "access", "aud": nil, "client_id": "plants"}, true},
		{"Keycloak's access token", k1, o{"typ": "JWT"}, o{"typ": "Bearer"}, true},
		{"Okta's access token", k1, o{"typ": nil}, o{"scp": raw(`["read"]`)}, true},
		{"Entra's access token for a user", k1, o{"typ": "JWT"}, o{"scp": "read"}, true},
		{"Entra's access token for an application", k1, o{"typ": "JWT"}, o{"idtyp": "app"}, true},
		{"an ID token", k1, o{"typ": "JWT"}, o{"nonce": "n", "at_hash": "h", "azp": "plants"}, false},
		{"an ID token without a type", k1, o{"typ": nil}, none, false},
		{"Cognito's ID token", k1, o{"typ": nil}, o{"token_use": "id"}, false},
		{"Keycloak's ID token", k1, o{"typ": "JWT"}, o{"typ": "ID"}, false},
		{"no scopes", k1, o{"typ": "JWT"}, o{"scp": raw("null")}, false},
		{"a scope that is no text", k1, o{"typ": "JWT"}, o{"scp": true}, false},
		{"an empty scope", k1, o{"typ": "JWT"}, o{"scp": ""}, false},
		{"an empty list of scopes", k1, o{"typ": "JWT"}, o{"scp": raw("[]")}, false},
		{"Cognito's ID token with scopes", k1, o{"typ": nil}, o{"token_use": "id", "scp": "read"}, false},
		{"Keycloak's ID token with scopes", k1, o{"typ": "JWT"}, o{"typ": "ID", "scp": "read"}, false},
		{"a logout token", k1, o{"typ": "logout+jwt"}, none, false},
		{"a logout token with scopes", k1, o{"typ": "logout+jwt"}, o{"scp": "read"}, false},
		{"a token of a key of the client", k1, none, o{"cnf": raw(`{"jkt":"x"}`)}, false},
		{"a type that is no text", k1, o{"typ": 1}, none, false},

		// It is for us, from the issuer, now.
		{"one of several audiences", k1, none, o{"aud": raw(`["a","plants"]`)}, true},
		{"another audience", k1, none, o{"aud": "animals"}, false},
		{"other audiences, and our client", k1, none, o{"aud": raw(`["a"]`), "client_id": "plants"}, false},
		{"no audiences, and our client", k1, none, o{"aud": raw(`[]`), "client_id": "plants"}, false},
		{"no audience and no client", k1, none, o{"aud": nil}, false},
		{"no audience, another client", k1, none, o{"aud": nil, "client_id": "animals"}, false},
		{"an audience in a list in a list", k1, none, o{"aud": raw(`[["plants"]]`)}, false},
		{"another issuer", k1, none, o{"iss": i.URL + "/"}, false},
		{"expired now", k1, none, o{"exp": now}, false},
		{"no expiry", k1, none, o{"exp": nil}, false},
		{"an expiry beyond int64", k1, none, o{"exp": raw("1e400")}, false},
		{"valid in a minute", k1, none, o{"nbf": now + leeway}, true},
		{"valid in more than a minute", k1, none, o{"nbf": now + leeway + 1}, false},
		{"no start", k1, none, o{"nbf": nil}, true},

		{"the longest subject", k1, none, o{"sub": strings.Repeat("~", 255)}, true},
		{"a longer subject", k1, none, o{"sub": strings.Repeat("~", 256)}, false},
		{"an empty subject", k1, none, o{"sub": ""}, false},
		{"a space in the subject", k1, none, o{"sub": "ann b"}, false},
		{"a subject that is no text", k1, none, o{"sub": 1}, false},

		// Its signature is the issuer's.
		{"no signature", unsigned, none, none, false},
		{"the algorithm none", unsigned, o{"alg": "none"}, none, false},
		{"the algorithm None with a signature", k1, o{"alg": "None"}, none, false},
		{"no algorithm", k1, o{"alg": nil}, none, false},
		{"HS256 with the public key", hmacOf(public), o{"alg": "HS256"}, none, false},
		{"HS256 with the public key, as ES256", hmacOf(public), none, none, false},
		{"the signature for another algorithm", k1, o{"alg": "RS256"}, none, false},
		{"another key", stranger, none, none, false},
		{"another key that the token brings", stranger, o{"jwk": other.keys[0]}, none, false},
		{"another key at a URL", stranger, o{"jku": i.URL + "/keys", "x5u": i.URL}, none, false},
		{"a key for encryption", encryption, o{"kid": "encryption"}, none, false},
		{"an unknown key", stranger, o{"kid": "k2"}, none, false},
		{"no key", k1, o{"kid": nil}, none, false},
		{"an unknown critical header", k1, o{"crit": raw(`["x"]`), "x": 1}, none, false},

		// CVE-2026-116586: JSON nested as deeply as headers of 10 KB can.
		{"a deep header", k1, o{"x": raw(strings.Repeat("[", 3500) + strings.Repeat("]", 3500))}, none, true},
		{"a deep claim", k1, none, o{"x": raw(strings.Repeat("[", 3500) + strings.Repeat("]", 3500))}, true},
	} {
		bearer := i.token(t, test.sign, test.header, test.claims)
		p, err := v.Verify(t.Context(), bearer)
		if test.valid != (err == nil) || err != nil && !errors.Is(err, token.ErrInvalid) || test.valid != (p.TokenID == "t1") {
			t.Errorf("%s: Verify = %+v, %v, want valid %t", test.name, p, err, test.valid)
		}
	}
}

// TestAlgorithms checks tokens that an independent signer signs with keys of all
// kinds, among keys that are of no use.
func TestAlgorithms(t *testing.T) {
	i, _ := newIssuer(t)
	i.keys = []any{
		object{"kty": "unknown", "kid": "RS256"},
		object{"kty": "oct", "kid": "RS256", "k": "AAAA"},
		object{"kty": "RSA"},
		"text", nil,
	}
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048) // crypto/rand does not fail
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, ed25519Key, _ := ed25519.GenerateKey(rand.Reader)
	for algorithm, key := range map[jose.SignatureAlgorithm]crypto.Signer{
		jose.RS256: rsaKey, jose.PS512: rsaKey, jose.ES384: p384, jose.EdDSA: ed25519Key,
	} {
		id := string(algorithm)
		i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: id})
		private := jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}}
		signer, err := jose.NewSigner(private, new(jose.SignerOptions).WithType("at+jwt"))
		if err != nil {
			t.Fatal(err)
		}
		signed, err := signer.Sign([]byte(`{"iss":"` + i.URL + `","aud":"plants","sub":"ann","exp":9e9}`))
		if err != nil {
			t.Fatal(err)
		}
		bearer, _ := signed.CompactSerialize() // it was made for this form
		if p, err := i.verifier(t).Verify(t.Context(), bearer); err != nil || p.Subject != i.URL+" ann" {
			t.Errorf("Verify of a token with %s = %+v, %v, want ann", algorithm, p, err)
		}
	}
}

// TestWeakKeys checks that keys which are too short or for another algorithm verify nothing.
func TestWeakKeys(t *testing.T) {
	key, err1 := rsa.GenerateKey(rand.Reader, 2048)
	short, err2 := rsa.GenerateKey(rand.Reader, 1024)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key       *rsa.PrivateKey
		algorithm string
		want      error
	}{{key, "", nil}, {key, "RS256", nil}, {key, "RSA-OAEP-256", token.ErrInvalid}, {short, "", token.ErrInvalid}} {
		i, _ := newIssuer(t)
		i.keys = append(i.keys, jose.JSONWebKey{Key: test.key.Public(), KeyID: "rsa", Algorithm: test.algorithm})
		bearer := i.token(t, func(signed string) string {
			hash := sha256.Sum256([]byte(signed))
			signature, _ := rsa.SignPKCS1v15(nil, test.key, crypto.SHA256, hash[:]) // the hash has the right length
			return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
		}, object{"alg": "RS256", "kid": "rsa"}, nil)
		if _, err := i.verifier(t).Verify(t.Context(), bearer); !errors.Is(err, test.want) {
			t.Errorf("Verify with a key of %d bits for %q = %v, want %v", test.key.N.BitLen(), test.algorithm, err, test.want)
		}
	}
}

// TestForms checks what is not a signed token in compact form.
func TestForms(t *testing.T) {
	i, k1 := newIssuer(t)
	v, valid := i.verifier(t), i.token(t, k1, nil, nil)
	part := strings.Split(valid, ".")
	jwe := func(alg, enc string) string {
		return encode(t, object{"alg": alg, "enc": enc, "zip": "DEF", "kid": "k1"}, nil) + "." + part[0] + "." + part[0] + "." + part[1] + ".AAAA"
	}
	claims := func(text string) string {
		return k1(part[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	i.check(t, v, "valid claims", claims(`{"iss":"`+i.URL+`","aud":"plants","exp":9e9,"sub":"ann"}`), nil, 2)
	for name, bearer := range map[string]string{
		"nothing":                             "",
		"two parts":                           part[0] + "." + part[1],
		"four parts":                          valid + ".",
		"a space":                             " " + valid,
		"padding":                             valid + "=",
		"JSON":                                `{"protected":"` + part[0] + `","payload":"` + part[1] + `","signature":"` + part[2] + `"}`,
		"a detached payload":                  part[0] + ".." + part[2],
		"a header that is no JSON":            part[1][:7] + "." + part[1] + "." + part[2],
		"a JWE that expands, CVE-2024-28180":  jwe("RSA-OAEP", "A128GCM"),
		"a JWE without a key, CVE-2026-34986": strings.Replace(jwe("A128KW", "A128GCM"), "."+part[0], ".", 1),
		"an empty JWE, CVE-2026-116585":       jwe("dir", "A128CBC-HS256"),
		"many periods, CVE-2025-27144":        strings.Repeat(".", 10_000),
		"a claim twice":                       claims(`{"iss":"` + i.URL + `","aud":"plants","exp":9e9,"sub":"bob","sub":"ann"}`),
		"a claim in another case":             claims(`{"iss":"http://other","Iss":"` + i.URL + `","aud":"plants","exp":9e9,"sub":"ann"}`),
		"claims that are not UTF-8":           claims(`{"iss":"` + i.URL + `","aud":"plants","exp":9e9,"sub":"ann","x":"` + "\xff" + `"}`),
	} {
		if p, err := v.Verify(t.Context(), bearer); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("%s: Verify = %+v, %v, want ErrInvalid", name, p, err)
		}
	}
}

// TestPrincipal checks that no opaque token can have the subject of a JWT, and that
// the token is named in any case.
func TestPrincipal(t *testing.T) {
	i, k1 := newIssuer(t)
	v := i.verifier(t)
	for _, id := range []any{"t1", nil, "", "a\nb", strings.Repeat("~", 256)} {
		bearer := i.token(t, k1, nil, object{"jti": id})
		want := token.Principal{Subject: i.URL + " ann", TokenID: token.Digest(bearer)}
		if id == "t1" {
			want.TokenID = "t1"
		}
		got, err := v.Verify(t.Context(), bearer)
		if err != nil || got != want {
			t.Errorf("Verify of a token with the id %q = %+v, %v, want %+v", id, got, err, want)
		}
		if _, _, err := token.Issue(rand.Reader, got.Subject, i.now, time.Hour); err == nil {
			t.Errorf("an opaque token can have the subject %q, want an error", got.Subject)
		}
	}
}

// TestMutants checks that no change of a valid token leaves it valid, and that none
// fetches anything.
func TestMutants(t *testing.T) {
	i, k1 := newIssuer(t)
	v, valid := i.verifier(t), i.token(t, k1, nil, nil)
	i.check(t, v, "the token", valid, nil, 2)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~+/="
	random := mathrand.New(mathrand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for range 10_000 {
		mutant := []byte(valid)
		for range 1 + random.IntN(3) {
			at, other := random.IntN(len(mutant)), random.IntN(len(mutant))
			switch random.IntN(4) {
			case 0:
				mutant[at] = alphabet[random.IntN(len(alphabet))]
			case 1:
				mutant[at], mutant[other] = mutant[other], mutant[at]
			case 2:
				mutant = append(mutant[:at], mutant[at+1:]...)
			case 3:
				mutant = append(mutant[:at+1], mutant[at:]...)
			}
		}
		if p, err := v.Verify(t.Context(), string(mutant)); string(mutant) != valid && !errors.Is(err, token.ErrInvalid) {
			t.Errorf("Verify(%s) = %+v, %v, want ErrInvalid; it is a mutant of %s", mutant, p, err, valid)
		}
	}
	if got := i.count(); got != 2 {
		t.Errorf("the tokens cause %d requests, want the 2 of the first", got)
	}
}

package jwt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	issuerURL     = "https://issuer.example.com"
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/keys"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// object is a JSON object.
type object map[string]any

// null is the JSON value. A nil in changes removes a member.
var null = jsontext.Value("null")

// document answers a request for a document of an issuer.
type document func(*http.Request) (*http.Response, error)

// issuer is an issuer of tokens, in place of the network.
type issuer struct {
	url       string
	now       func() time.Time
	documents map[string]document // by path
	published []any               // the keys at keysPath
	requests  []time.Time         // when they came
}

// newIssuer returns an issuer with the key k1, at noon.
func newIssuer() (*issuer, signer) {
	i := &issuer{url: issuerURL, now: func() time.Time { return noon }}
	i.documents = map[string]document{
		discoveryPath: discovers(issuerURL, issuerURL+keysPath),
		keysPath: func(r *http.Request) (*http.Response, error) {
			text, _ := json.Marshal(object{"keys": i.published}) // they are objects of JSON
			return answers(http.StatusOK, "application/json; charset=utf-8", string(text))(r)
		},
	}
	return i, i.newKey("k1", nil)
}

// answers returns a document that is always the same. A status of 3xx redirects to /moved.
func answers(status int, contentType, body string) document {
	return func(*http.Request) (*http.Response, error) {
		answer := httptest.NewRecorder()
		answer.Header().Set("Content-Type", contentType)
		answer.Header().Set("Location", "/moved")
		answer.WriteHeader(status)
		fmt.Fprint(answer, body)
		return answer.Result(), nil
	}
}

// discovers returns a discovery document.
func discovers(issuer, keys string) document {
	return answers(http.StatusOK, "application/json", fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, issuer, keys))
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.requests = append(i.requests, i.now())
	return i.documents[r.URL.Path](r)
}

// verifier returns a Verifier of the issuer's tokens for the audience plants.
func (i *issuer) verifier(t testing.TB) *Verifier {
	t.Helper()
	made, err := New(i.url, "plants, herbs", i.now)
	if err != nil {
		t.Fatal(err)
	}
	verifier, _ := made.(*Verifier)
	verifier.keys.client.Transport = i
	return verifier
}

// token returns a valid token with changes to its header and claims. A nil removes a member.
func (i *issuer) token(t testing.TB, sign signer, headerChanges, claimChanges object) string {
	t.Helper()
	seconds := i.now().Unix()
	header := object{"typ": "at+jwt", "alg": "ES256", "kid": "k1"}
	claims := object{
		"iss": i.url, "sub": "ann", "aud": "plants", "jti": "t1", "exp": seconds + 1, "nbf": seconds, "iat": seconds,
	}
	return sign(encode(t, header, headerChanges) + "." + encode(t, claims, claimChanges))
}

func encode(t testing.TB, value, changes object) string {
	t.Helper()
	for name, change := range changes {
		value[name] = change
		if change == nil {
			delete(value, name)
		}
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// signer adds a signature to the header and the payload of a token.
type signer func(signed string) string

// newKey returns a signer with a P-256 key, which the issuer publishes under this id, with changes.
func (i *issuer) newKey(id string, changes object) signer {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // crypto/rand does not fail
	text, _ := jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"}.MarshalJSON()
	var published object
	_ = json.Unmarshal(text, &published) // it is an object
	maps.Copy(published, changes)
	i.published = append(i.published, published)
	return func(signed string) string {
		r, s, _ := ecdsa.Sign(rand.Reader, key, digest(signed))
		signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
	}
}

func unsigned(signed string) string { return signed + "." }

func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

package jwt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const configuration = "/.well-known/openid-configuration"

// object is a JSON object.
type object map[string]any

// fault answers a request in place of an issuer, and reports whether it did.
type fault func(w http.ResponseWriter, r *http.Request) bool

// issuer is an issuer of tokens. Its clock stands until a test moves it.
type issuer struct {
	*httptest.Server
	now  time.Time
	keys []any

	mu       sync.Mutex
	requests int
	fault    fault
}

// newIssuer starts an issuer with the key k1.
func newIssuer(t testing.TB) (*issuer, signer) {
	t.Helper()
	i := &issuer{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i, i.newKey("k1")
}

// ServeHTTP answers the discovery document, and the keys at any other path.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.requests++
	fault := i.fault
	i.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	answer := object{"keys": i.keys}
	if r.URL.Path == configuration {
		answer = object{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}
	}
	_ = json.MarshalWrite(w, answer) // the client may have gone
}

// fail sets the fault, if any.
func (i *issuer) fail(f fault) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fault = f
}

// count returns how many requests there were.
func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests
}

// verifier returns a Verifier of the issuer's tokens for the audience plants.
func (i *issuer) verifier(t testing.TB) *Verifier {
	t.Helper()
	v, err := New(i.URL, "plants", func() time.Time { return i.now })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// token returns a valid token with changes to its header and claims. A nil removes
// a member.
func (i *issuer) token(t testing.TB, sign signer, header, claims object) string {
	t.Helper()
	seconds := i.now.Unix()
	return sign(encode(t, object{"typ": "at+jwt", "alg": "ES256", "kid": "k1"}, header) + "." + encode(t, object{
		"iss": i.URL, "sub": "ann", "aud": "plants", "jti": "t1", "exp": seconds + 1, "nbf": seconds, "iat": seconds,
	}, claims))
}

func encode(t testing.TB, value, changes object) string {
	t.Helper()
	for name, change := range changes {
		if value[name] = change; change == nil {
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

// newKey returns a signer with a key that the issuer publishes under this id.
func (i *issuer) newKey(id string) signer {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // crypto/rand does not fail
	i.keys = append(i.keys, jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
	return func(signed string) string {
		hash := sha256.Sum256([]byte(signed))
		r, s, _ := ecdsa.Sign(rand.Reader, key, hash[:])
		signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
	}
}

// hmacOf returns a signer that uses a public key as the secret of HS256.
func hmacOf(secret []byte) signer {
	return func(signed string) string {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
}

func unsigned(signed string) string { return signed + "." }

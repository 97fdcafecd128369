package jwt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	issuerURL     = "https://issuer.example.com"
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/keys"
)

// object is a JSON object.
type object map[string]any

// document answers a request for a document of an issuer.
type document func(*http.Request) (*http.Response, error)

// issuer is an issuer of tokens, in place of the network.
type issuer struct {
	verifier  *verifier           // of its tokens, for the audiences plants and herbs
	documents map[string]document // by path
	requests  int                 // how many came
	connected bool                // after a request, until idle connections are closed
	private   *ecdsa.PrivateKey
	published []any // keys, at keysPath
}

// newIssuer returns an issuer that publishes its key as k1.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	private, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // crypto/rand does not fail
	i := &issuer{private: private}
	i.documents = map[string]document{
		discoveryPath: discovers(issuerURL, issuerURL+keysPath),
		keysPath: func(r *http.Request) (*http.Response, error) {
			text, _ := json.Marshal(object{"keys": i.published}) // they are objects of JSON
			return answers(http.StatusOK, "application/json; charset=utf-8", string(text))(r)
		},
	}
	i.publish("k1", nil)
	v, err := AddIssuer(serviceVerifier{}, issuerURL, "plants, herbs")
	if err != nil {
		t.Fatal(err)
	}
	i.verifier = v.(*verifier)
	i.verifier.keys.client.Transport = i
	return i
}

// publish publishes the issuer's key under another id, with changes.
func (i *issuer) publish(id string, changes object) {
	point, _ := i.private.PublicKey.Bytes() // 4, x and y
	key := object{"kid": id, "kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])}
	maps.Copy(key, changes)
	i.published = append(i.published, key)
}

// discovers returns a discovery document.
func discovers(issuer, keys string) document {
	return answers(http.StatusOK, "application/json", fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, issuer, keys))
}

// answers returns a document that is always the same. A status of 3xx redirects to /moved.
func answers(status int, contentType, body string) document {
	header := http.Header{"Content-Type": {contentType}, "Location": {"/moved"}}
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.requests++
	i.connected = true
	return i.documents[r.URL.Path](r)
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (i *issuer) CloseIdleConnections() { i.connected = false }

// draft is a token that differs from a valid one. A nil in its changes removes a member.
type draft struct {
	name   string
	key    object                     // changes of a key that the issuer publishes for it; k1, if nil
	header object                     // changes
	claims object                     // changes
	sign   func(signed string) string // adds a signature; the issuer's, if nil
	want   error                      // of Verify
}

// token returns the token of a draft.
func (i *issuer) token(d draft) string {
	seconds := time.Now().Unix()
	header := object{"typ": "at+jwt", "alg": "ES256", "kid": "k1"}
	if d.key != nil {
		header["kid"] = d.name
	}
	claims := object{"iss": issuerURL, "sub": "ann", "aud": "plants", "jti": "t1", "exp": seconds + 2, "nbf": seconds}
	signed := part(header, d.header) + "." + part(claims, d.claims)
	if d.sign == nil {
		return i.sign(signed)
	}
	return d.sign(signed)
}

func (i *issuer) sign(signed string) string {
	digest := sha256.Sum256([]byte(signed))
	r, s, _ := ecdsa.Sign(rand.Reader, i.private, digest[:])
	return signed + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// part returns a part of a token: a value with changes.
func part(value, changes object) string {
	maps.Copy(value, changes)
	maps.DeleteFunc(value, func(_ string, member any) bool { return member == nil })
	text, _ := json.Marshal(value) // it has values of JSON
	return encode(text)
}

func encode(content []byte) string { return base64.RawURLEncoding.EncodeToString(content) }

// check publishes the keys of drafts and verifies their tokens, each at the time at which [synctest.Test]
// starts.
func (i *issuer) check(t *testing.T, drafts []draft) {
	t.Helper()
	for _, d := range drafts {
		if d.key != nil {
			i.publish(d.name, d.key)
		}
	}
	for _, d := range drafts {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := i.verifier.Verify(t.Context(), i.token(d)); !errors.Is(err, d.want) {
					t.Errorf("Verify = %v, want %v", err, d.want)
				}
			})
		})
	}
}

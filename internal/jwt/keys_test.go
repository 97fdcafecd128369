package jwt

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/token"
)

// signs returns what signs a token with a key.
func signs(key crypto.Signer, hash crypto.Hash) func(signed string) string {
	return func(signed string) string {
		signature, _ := crypto.SignMessage(key, rand.Reader, []byte(signed), hash) // without one, verifying fails
		return signed + "." + encode(signature)
	}
}

// ofRSA returns the members of an RSA key.
func ofRSA(key *rsa.PrivateKey) object {
	return object{"kty": "RSA", "n": encode(key.N.Bytes()), "e": "AQAB"}
}

// A token is verified by a public key of any kind that may verify it, and by no other.
func TestKeys(t *testing.T) {
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048) // crypto/rand does not fail
	shortKey, _ := rsa.GenerateKey(rand.Reader, 1024)
	public, ed25519Key, _ := ed25519.GenerateKey(rand.Reader)
	ofEd25519 := object{"kty": "OKP", "crv": "Ed25519", "x": encode(public)}
	rs256, eddsa := object{"alg": "RS256"}, object{"alg": "EdDSA"}
	newIssuer(t).check(t, []draft{
		{name: "a key for ES256", key: object{"alg": "ES256", "use": "sig"}},
		{name: "a key for another algorithm", key: object{"alg": "ES384"}, want: reasonSignature},
		{name: "a key for encryption", key: object{"use": "enc"}, want: reasonKey},
		{name: "a key that may verify", key: object{"key_ops": []string{"encrypt", "verify"}}},
		{name: "a key that may only encrypt", key: object{"key_ops": []string{"encrypt"}}, want: reasonKey},
		{name: "a secret", key: object{"kty": "oct", "k": "AAAA"}, want: reasonKey},
		{name: "RSA", key: ofRSA(rsaKey), header: rs256, sign: signs(rsaKey, crypto.SHA256)},
		{name: "RSA with 1,024 bits", key: ofRSA(shortKey), header: rs256, sign: signs(shortKey, crypto.SHA256), want: reasonKey},
		{name: "Ed25519", key: ofEd25519, header: eddsa, sign: signs(ed25519Key, 0)},
	})
}

// An attempt verifies a token of a key, with the error, and the number of requests that this causes.
type attempt struct {
	after    time.Duration // the attempt before
	name     string
	key      string // none, if empty
	want     error
	requests int
}

// try makes some attempts. None leaves a connection open, which would break while Lambda freezes the
// process.
func (i *issuer) try(t *testing.T, attempts ...attempt) {
	t.Helper()
	for _, a := range attempts {
		time.Sleep(a.after)
		before := i.requests
		_, err := i.verifier.Verify(t.Context(), i.token(draft{header: object{"kid": a.key}}))
		if got := i.requests - before; !errors.Is(err, a.want) || got != a.requests {
			t.Errorf("%s: Verify = %v with %d requests, want %v with %d", a.name, err, got, a.want, a.requests)
		}
		if i.connected {
			t.Errorf("%s: the connection to the issuer is still open", a.name)
		}
	}
}

// failing is a document of an issuer that is out of order.
var failing = answers(http.StatusInternalServerError, "application/json", `{}`)

// delayed returns d, whose answer takes the time delay.
func delayed(d document, delay time.Duration) document {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(delay):
			return d(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// The first token causes two requests, for the discovery document and the keys. Then the keys are
// fetched for an unknown key, at most once a minute, and when they are an hour old.
func TestFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		i.try(t,
			attempt{name: "a token without a key id", want: reasonKey},
			attempt{name: "the first token", key: "k1", requests: 2},
			attempt{name: "the second token", key: "k1"})
		i.publish("k2", nil)
		i.try(t,
			attempt{after: time.Minute - 1, name: "a new key within a minute", key: "k2", want: reasonKey},
			attempt{after: 1, name: "an unknown key after a minute", key: "k3", want: reasonKey, requests: 1},
			attempt{name: "another unknown key at once", key: "k4", want: reasonKey},
			attempt{name: "a new key after a minute", key: "k2"})
		i.published = nil
		i.try(t,
			attempt{after: time.Hour - 1, name: "a withdrawn key within an hour", key: "k1"},
			attempt{after: 1, name: "a withdrawn key after an hour", key: "k1", want: reasonKey, requests: 1})
	})
}

// The times of fetches are the wall clock's: while Lambda freezes a process, the monotonic clock may stop.
func TestTimesOfFetches(t *testing.T) {
	i := newIssuer(t)
	i.try(t, attempt{name: "the first token", key: "k1", requests: 2})
	keys := &i.verifier.keys
	for _, got := range []time.Time{keys.fetchedAt, keys.nextFetch} {
		if got != got.Round(0) {
			t.Errorf("a time of the fetch is %v, want no reading of the monotonic clock", got)
		}
	}
}

// An issuer that takes 0.9 s for each document has no time for the keys in the first fetch, which does
// not delay the authorizer beyond its budget.
func TestSlowIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		i.documents[discoveryPath] = delayed(i.documents[discoveryPath], 900*time.Millisecond)
		i.documents[keysPath] = delayed(i.documents[keysPath], 900*time.Millisecond)
		began := time.Now()
		i.try(t, attempt{name: "the first token", key: "k1", want: token.ErrUnavailable, requests: 2})
		if took := time.Since(began); took != 1500*time.Millisecond || took >= budget.AuthorizerWait {
			t.Errorf("the first Verify takes %v, want 1.5 s, and less than %v", took, budget.AuthorizerWait)
		}
		i.try(t,
			attempt{name: "the token at once", key: "k1", want: token.ErrUnavailable},
			attempt{after: time.Second, name: "the token a second later", key: "k1", requests: 1})
	})
}

// After failures, a fetch begins 1, 2, 4 … 60 s after the last one. After a success, the waits start anew. Known
// keys stay in use. After a failure at their URL, keys that have moved are found at the new one.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		working, published := i.documents[discoveryPath], i.documents[keysPath]
		i.documents[discoveryPath] = failing
		i.try(t, attempt{name: "the first token", key: "k1", want: token.ErrUnavailable, requests: 1})
		for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			name := fmt.Sprintf("%d s after a failure", wait)
			i.try(t,
				attempt{after: wait*time.Second - 1, name: "less than " + name, key: "k1", want: token.ErrUnavailable},
				attempt{after: 1, name: name, key: "k1", want: token.ErrUnavailable, requests: 1})
		}
		i.documents[discoveryPath] = working
		i.try(t, attempt{after: time.Minute, name: "a token after the outage", key: "k1", requests: 2})
		i.documents[keysPath] = failing
		i.publish("k2", nil)
		i.try(t,
			attempt{after: time.Hour, name: "a known key in the next outage", key: "k1", requests: 1},
			attempt{name: "a new key in that outage", key: "k2", want: token.ErrUnavailable})
		i.documents[discoveryPath] = discovers(issuerURL, "https://keys.example.com/moved")
		i.documents["/moved"] = published
		i.try(t, attempt{after: time.Second, name: "the new key at another URL", key: "k2", requests: 2})
	})
}

// A key that was withdrawn while its issuer was out of order is refused as soon as the issuer works again.
func TestWithdrawnInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer(t)
		working := i.documents[keysPath]
		i.try(t, attempt{name: "the first token", key: "k1", requests: 2})
		i.documents[keysPath], i.published = failing, nil
		i.try(t, attempt{after: time.Hour, name: "the key in the outage", key: "k1", requests: 1})
		i.documents[keysPath] = working
		i.try(t, attempt{after: time.Second, name: "the key after the outage", key: "k1", want: reasonKey, requests: 2})
	})
}

// Many first tokens cause one fetch, which is a request for the URL of the keys and one for the keys.
func TestConcurrency(t *testing.T) {
	i := newIssuer(t)
	// The delay is longer than the other calls need to begin.
	i.documents[discoveryPath] = delayed(i.documents[discoveryPath], 20*time.Millisecond)
	bearer := i.token(draft{})
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, err := i.verifier.Verify(t.Context(), bearer); err != nil {
				t.Errorf("Verify = %v, want nil", err)
			}
		})
	}
	group.Wait()
	if i.requests != 2 {
		t.Errorf("50 first tokens cause %d requests, want 2", i.requests)
	}
}

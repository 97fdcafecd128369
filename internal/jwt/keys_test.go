package jwt

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// check verifies a token and compares the error, and the number of requests so far.
func (i *issuer) check(t *testing.T, v *Verifier, name, bearer string, want error, requests int) {
	t.Helper()
	_, err := v.Verify(t.Context(), bearer)
	if !errors.Is(err, want) || len(i.requests) != requests {
		t.Errorf("%s: Verify = %v after %d requests, want %v after %d", name, err, len(i.requests), want, requests)
	}
}

// inBubble runs f with an issuer whose clock is the bubble's, and a token for some hours.
func inBubble(t *testing.T, f func(t *testing.T, i *issuer, v *Verifier, bearer string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		i, k1 := newIssuer()
		i.now = time.Now
		f(t, i, i.verifier(t), i.token(t, k1, nil, object{"exp": 9e9}))
	})
}

// failing is a document of an issuer that is out of order.
var failing = answers(http.StatusInternalServerError, "application/json", `{"canary":1}`)

// slow returns a document that takes some time.
func slow(d document, takes time.Duration) document {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(takes):
			return d(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// The first token causes two requests, for the discovery document and the keys. Then the keys are
// fetched for an unknown key, at most once a minute, and when they are an hour old.
func TestFetches(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer1 string) {
		i.check(t, v, "a token without a key id", i.token(t, unsigned, object{"kid": nil}, nil), token.ReasonKey, 0)
		for range 3 {
			i.check(t, v, "the first tokens", bearer1, nil, 2)
		}
		k2 := i.newKey("k2")
		bearer2 := i.token(t, k2, object{"kid": "k2"}, object{"exp": 9e9})
		time.Sleep(interval - 1)
		i.check(t, v, "a new key within a minute", bearer2, token.ReasonKey, 2)
		time.Sleep(time.Nanosecond)
		for n := range 3 {
			i.check(t, v, "an unknown key", i.token(t, k2, object{"kid": fmt.Sprint(n)}, nil), token.ReasonKey, 3)
		}
		i.check(t, v, "a new key after a minute", bearer2, nil, 3)
		i.published = i.published[1:]
		time.Sleep(maxAge - 1)
		i.check(t, v, "a withdrawn key within an hour", bearer1, nil, 3)
		time.Sleep(time.Nanosecond)
		i.check(t, v, "a withdrawn key after an hour", bearer1, token.ReasonKey, 4)
		i.check(t, v, "the other key", bearer2, nil, 4)
	})
}

// An issuer that takes 0.9 s for each document has no time for the keys in the first fetch, which does not
// delay the authorizer beyond its budget.
func TestSlowIssuer(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		i.documents[discoveryPath] = slow(i.documents[discoveryPath], 900*time.Millisecond)
		i.documents[keysPath] = slow(i.documents[keysPath], 900*time.Millisecond)
		began := time.Now()
		i.check(t, v, "the first token", bearer, token.ErrUnavailable, 2)
		if took := time.Since(began); took != fetchTimeout {
			t.Errorf("the first Verify takes %v, want %v", took, fetchTimeout)
		}
		i.check(t, v, "the token at once", bearer, token.ErrUnavailable, 2)
		time.Sleep(firstWait)
		i.check(t, v, "the token a second later", bearer, nil, 3)
	})
}

// After failures, a fetch begins 1, 2, 4 … 60 s after the last. After a success that starts anew. Known
// keys stay in use.
func TestBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		working := i.documents[discoveryPath]
		i.documents[discoveryPath] = failing
		began := time.Now()
		for range 4 * 60 {
			if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, token.ErrUnavailable) {
				t.Errorf("Verify = %v, want ErrUnavailable", err)
			}
			time.Sleep(time.Second)
		}
		var got []int
		for _, at := range i.requests {
			got = append(got, int(at.Sub(began)/time.Second))
		}
		if want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183}; !slices.Equal(got, want) {
			t.Errorf("requests after %v s, want %v", got, want)
		}
		i.documents[discoveryPath] = working
		time.Sleep(interval)
		i.check(t, v, "a token after the outage", bearer, nil, 11)

		i.documents[keysPath] = failing
		time.Sleep(maxAge)
		i.check(t, v, "a known key in the next outage", bearer, nil, 12)
		unknown := i.token(t, unsigned, object{"kid": "k2"}, nil)
		time.Sleep(firstWait - 1)
		i.check(t, v, "an unknown key within a second", unknown, token.ErrUnavailable, 12)
		time.Sleep(time.Nanosecond)
		i.check(t, v, "an unknown key after a second", unknown, token.ErrUnavailable, 13)
	})
}

// Keys that have moved are found at their new URL, after two failures at the old one.
func TestMovedKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		i.check(t, v, "the first token", bearer, nil, 2)
		i.documents[discoveryPath] = discovers(issuerURL, issuerURL+"/moved")
		i.documents["/moved"] = i.documents[keysPath]
		i.documents[keysPath] = failing
		bearer2 := i.token(t, i.newKey("k2"), object{"kid": "k2"}, object{"exp": 9e9})
		time.Sleep(interval)
		i.check(t, v, "a new key", bearer2, token.ErrUnavailable, 3)
		time.Sleep(firstWait)
		i.check(t, v, "the new key a second later", bearer2, token.ErrUnavailable, 4)
		time.Sleep(2 * firstWait)
		i.check(t, v, "the new key two seconds later", bearer2, nil, 6)
	})
}

// TestDocuments checks documents that are of no use. The error repeats nothing of them.
func TestDocuments(t *testing.T) {
	const isJSON = "application/json"
	// A valid set of keys with the example of RFC 7517, appendix A.1, but for its end.
	const set = `{"keys":[{"kty":"EC","kid":"k1","crv":"P-256",` +
		`"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]`
	malformed := func(*http.Request) (*http.Response, error) { return nil, errors.New("malformed HTTP: canary") }
	tests := []struct {
		name     string
		path     string
		document document
	}{
		{"the discovery fails", discoveryPath, failing},
		{"the discovery is not HTTP", discoveryPath, malformed},
		{"the discovery is for another issuer", discoveryPath, discovers("https://canary", issuerURL+keysPath)},
		{"the discovery is moved", discoveryPath, answers(http.StatusMovedPermanently, isJSON, "{}")},
		{"the keys fail", keysPath, answers(http.StatusInternalServerError, isJSON, set+"}")},
		{"the keys are a page", keysPath, answers(http.StatusOK, "text/html", set+"}")},
		{"the keys are cut", keysPath, answers(http.StatusOK, isJSON, set)},
		{"the keys are over 1 MB", keysPath, answers(http.StatusOK, isJSON, set+strings.Repeat(" ", maxAnswer)+"}")},
		{"there are no keys", keysPath, answers(http.StatusOK, isJSON, `{"keys":[]}`)},
		{"no key is of use", keysPath, answers(http.StatusOK, isJSON, `{"keys":["canary"]}`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, k1 := newIssuer()
			i.documents["/moved"] = i.documents[test.path]
			i.documents[test.path] = test.document
			checkUnavailable(t, i.verifier(t), i.token(t, k1, nil, nil), "jwt: ")
		})
	}
}

// TestURLOfKeys checks that an https issuer has its keys at an https URL, and one on this machine on
// this machine.
func TestURLOfKeys(t *testing.T) {
	const local = "http://localhost:8080"
	longest := issuerURL + keysPath + "?"
	longest += strings.Repeat("a", maxURL-len(longest))
	tests := []struct {
		name   string
		issuer string
		keys   string
		want   error
	}{
		{"https on another host", issuerURL, "https://keys.example.com/keys", nil},
		{"the longest URL", issuerURL, longest, nil},
		{"a longer URL", issuerURL, longest + "a", token.ErrUnavailable},
		{"no URL", issuerURL, "", token.ErrUnavailable},
		{"a malformed URL", issuerURL, "https://%zz/keys", token.ErrUnavailable},
		{"a URL with a user", issuerURL, "https://user@issuer.example.com/keys", token.ErrUnavailable},
		{"http for an https issuer", issuerURL, "http://localhost/keys", token.ErrUnavailable},
		{"other names for a local issuer", local, "http://host.docker.internal/keys", nil},
		{"http on another host for a local issuer", local, "http://keys.example.com/keys", token.ErrUnavailable},
		{"https on another host for a local issuer", local, "https://keys.example.com/keys", token.ErrUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, k1 := newIssuer()
			i.url = test.issuer
			i.documents[discoveryPath] = discovers(test.issuer, test.keys)
			if _, err := i.verifier(t).Verify(t.Context(), i.token(t, k1, nil, nil)); !errors.Is(err, test.want) {
				t.Errorf("Verify = %v, want %v", err, test.want)
			}
		})
	}
}

// checkUnavailable checks that the keys cannot be fetched, and that the error says why and repeats no
// answer.
func checkUnavailable(t *testing.T, v token.Issuer, bearer, why string) {
	t.Helper()
	_, err := v.Verify(t.Context(), bearer)
	if !errors.Is(err, token.ErrUnavailable) {
		t.Fatalf("Verify = %v, want ErrUnavailable", err)
	}
	if text := err.Error(); !strings.Contains(text, why) || strings.Contains(text, "canary") {
		t.Errorf("Verify = %v, want %q in it, and no canary", err, why)
	}
}

// TestConnections checks what the error says if no connection is made.
func TestConnections(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	untrusted := httptest.NewTLSServer(nil)
	defer untrusted.Close()
	tests := []struct{ url, why string }{{closed.URL, "connection refused"}, {untrusted.URL, "certificate"}}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			v, err := New(test.url, "plants", time.Now)
			if err != nil {
				t.Fatal(err)
			}
			i, k1 := newIssuer()
			checkUnavailable(t, v, i.token(t, k1, nil, nil), test.why)
		})
	}
}

// TestConcurrency checks that many first tokens cause one fetch, which is a request for the URL of the keys and one for
// the keys.
func TestConcurrency(t *testing.T) {
	i, k1 := newIssuer()
	i.documents[discoveryPath] = slow(i.documents[discoveryPath], 20*time.Millisecond) // longer than the others need to begin
	v, bearer := i.verifier(t), i.token(t, k1, nil, nil)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, err := v.Verify(t.Context(), bearer); err != nil {
				t.Errorf("Verify = %v, want nil", err)
			}
		})
	}
	group.Wait()
	if got := len(i.requests); got != 2 {
		t.Errorf("50 first tokens cause %d requests, want 2", got)
	}
}

package jwt

import (
	"errors"
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

// An attempt is a token to verify, with the error, and the number of requests that the verifier then
// sends.
type attempt struct {
	name     string
	bearer   string
	want     error
	requests int
}

// check verifies the token of an attempt.
func (i *issuer) check(t *testing.T, v *Verifier, a attempt) {
	t.Helper()
	before := len(i.requests)
	_, err := v.Verify(t.Context(), a.bearer)
	if !errors.Is(err, a.want) {
		t.Errorf("%s: Verify = %v, want %v", a.name, err, a.want)
	}
	if got := len(i.requests) - before; got != a.requests {
		t.Errorf("%s: Verify sends %d requests, want %d", a.name, got, a.requests)
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
		withoutKey := i.token(t, unsigned, object{"kid": nil}, nil)
		i.check(t, v, attempt{name: "a token without a key id", bearer: withoutKey, want: token.ReasonKey})
		i.check(t, v, attempt{name: "the first token", bearer: bearer1, requests: 2})
		i.check(t, v, attempt{name: "the second token", bearer: bearer1})
		k2 := i.newKey("k2", nil)
		bearer2 := i.token(t, k2, object{"kid": "k2"}, object{"exp": 9e9})
		time.Sleep(time.Minute - 1)
		i.check(t, v, attempt{name: "a new key within a minute", bearer: bearer2, want: token.ReasonKey})
		time.Sleep(time.Nanosecond)
		unknown := i.token(t, k2, object{"kid": "k3"}, nil)
		i.check(t, v, attempt{name: "an unknown key after a minute", bearer: unknown, want: token.ReasonKey, requests: 1})
		i.check(t, v, attempt{name: "an unknown key at once", bearer: unknown, want: token.ReasonKey})
		another := i.token(t, k2, object{"kid": "k4"}, nil)
		i.check(t, v, attempt{name: "another unknown key at once", bearer: another, want: token.ReasonKey})
		i.check(t, v, attempt{name: "a new key after a minute", bearer: bearer2})
		i.published = i.published[1:]
		time.Sleep(time.Hour - 1)
		i.check(t, v, attempt{name: "a withdrawn key within an hour", bearer: bearer1})
		time.Sleep(time.Nanosecond)
		i.check(t, v, attempt{name: "a withdrawn key after an hour", bearer: bearer1, want: token.ReasonKey, requests: 1})
		i.check(t, v, attempt{name: "the other key", bearer: bearer2})
		i.published = nil
		time.Sleep(time.Hour)
		i.check(t, v, attempt{name: "the other key, withdrawn too", bearer: bearer2, want: token.ReasonKey, requests: 1})
	})
}

// The age of keys counts the wall clock's time: while Lambda freezes a process, the monotonic clock may
// stop.
func TestAgeOfKeys(t *testing.T) {
	i, k1 := newIssuer()
	i.now = time.Now // of a bubble, it does not read the monotonic clock
	v := i.verifier(t)
	i.check(t, v, attempt{name: "the first token", bearer: i.token(t, k1, nil, object{"exp": 9e9}), requests: 2})
	if fetched := v.keys.fetched; fetched != fetched.Round(0) {
		t.Errorf("the keys were fetched at %v, want no reading of the monotonic clock", fetched)
	}
}

// An issuer that takes 0.9 s for each document has no time for the keys in the first fetch, which does
// not delay the authorizer beyond its budget.
func TestSlowIssuer(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		i.documents[discoveryPath] = slow(i.documents[discoveryPath], 900*time.Millisecond)
		i.documents[keysPath] = slow(i.documents[keysPath], 900*time.Millisecond)
		began := time.Now()
		i.check(t, v, attempt{name: "the first token", bearer: bearer, want: token.ErrUnavailable, requests: 2})
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("the first Verify takes %v, want 1.5 s", took)
		}
		i.check(t, v, attempt{name: "the token at once", bearer: bearer, want: token.ErrUnavailable})
		time.Sleep(time.Second)
		i.check(t, v, attempt{name: "the token a second later", bearer: bearer, requests: 1})
	})
}

// After failures, a fetch begins 1, 2, 4 … 60 s after the last. After a success that starts anew. Known
// keys stay in use.
func TestBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		working := i.documents[discoveryPath]
		i.documents[discoveryPath] = failing
		for range 4 * 60 {
			if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, token.ErrUnavailable) {
				t.Errorf("Verify = %v, want ErrUnavailable", err)
			}
			time.Sleep(time.Second)
		}
		var waits []time.Duration
		for n := range len(i.requests) - 1 {
			waits = append(waits, i.requests[n+1].Sub(i.requests[n])/time.Second)
		}
		if want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}; !slices.Equal(waits, want) {
			t.Errorf("the fetches are %d s apart, want %d", waits, want)
		}
		i.documents[discoveryPath] = working
		time.Sleep(time.Minute)
		i.check(t, v, attempt{name: "a token after the outage", bearer: bearer, requests: 2})

		i.documents[keysPath] = failing
		time.Sleep(time.Hour)
		i.check(t, v, attempt{name: "a known key in the next outage", bearer: bearer, requests: 1})
		unknown := i.token(t, unsigned, object{"kid": "k2"}, nil)
		time.Sleep(time.Second - 1)
		i.check(t, v, attempt{name: "an unknown key within a second", bearer: unknown, want: token.ErrUnavailable})
		time.Sleep(time.Nanosecond)
		i.check(t, v, attempt{name: "an unknown key after a second", bearer: unknown, want: token.ErrUnavailable, requests: 1})
	})
}

// Keys that have moved are found at their new URL, after two failures at the old one.
func TestMovedKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, i *issuer, v *Verifier, bearer string) {
		i.check(t, v, attempt{name: "the first token", bearer: bearer, requests: 2})
		i.documents[discoveryPath] = discovers(issuerURL, issuerURL+"/moved")
		i.documents["/moved"] = i.documents[keysPath]
		i.documents[keysPath] = failing
		bearer2 := i.token(t, i.newKey("k2", nil), object{"kid": "k2"}, object{"exp": 9e9})
		time.Sleep(time.Minute)
		i.check(t, v, attempt{name: "a new key", bearer: bearer2, want: token.ErrUnavailable, requests: 1})
		time.Sleep(time.Second)
		i.check(t, v, attempt{name: "the new key a second later", bearer: bearer2, want: token.ErrUnavailable, requests: 1})
		time.Sleep(2 * time.Second)
		i.check(t, v, attempt{name: "the new key two seconds later", bearer: bearer2, requests: 2})
	})
}

// A document of no use makes the keys unavailable. The error repeats nothing of it.
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
		{"the discovery is for no issuer", discoveryPath, discovers("", issuerURL+keysPath)},
		{"the discovery is for a longer issuer", discoveryPath, discovers(issuerURL+".canary", issuerURL+keysPath)},
		{"the discovery is moved", discoveryPath, answers(http.StatusMovedPermanently, isJSON, "{}")},
		{"the keys fail", keysPath, answers(http.StatusInternalServerError, isJSON, set+"}")},
		{"the keys are a page", keysPath, answers(http.StatusOK, "text/html", set+"}")},
		{"the keys are cut", keysPath, answers(http.StatusOK, isJSON, set)},
		{"the keys are over 1 MB", keysPath, answers(http.StatusOK, isJSON, set+strings.Repeat(" ", 1<<20)+"}")},
		{"there is no list of keys", keysPath, answers(http.StatusOK, isJSON, `{"canary":[]}`)},
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

// The keys of an https issuer are at an https URL, and those of an issuer on this machine are on this
// machine.
func TestURLOfKeys(t *testing.T) {
	const local = "http://localhost:8080"
	longest := issuerURL + keysPath + "?"
	longest += strings.Repeat("a", 2048-len(longest))
	tests := []struct {
		name   string
		issuer string
		keys   string
		want   error
	}{
		{"https on another host", issuerURL, "https://keys.example.com/keys", nil},
		{"the longest URL", issuerURL, longest, nil},
		{"a longer URL", issuerURL, longest + "a", token.ErrUnavailable},
		{"a malformed URL", issuerURL, "https://%zz/keys", token.ErrUnavailable},
		{"a URL with a user", issuerURL, "https://user@issuer.example.com/keys", token.ErrUnavailable},
		{"http for an https issuer", issuerURL, "http://localhost/keys", token.ErrUnavailable},
		{"another name of this machine for a local issuer", local, "http://host.docker.internal/keys", nil},
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
func checkUnavailable(t *testing.T, v token.JWTVerifier, bearer, why string) {
	t.Helper()
	_, err := v.Verify(t.Context(), bearer)
	if !errors.Is(err, token.ErrUnavailable) {
		t.Fatalf("Verify = %v, want ErrUnavailable", err)
	}
	if text := err.Error(); !strings.Contains(text, why) || strings.Contains(text, "canary") {
		t.Errorf("Verify = %v, want %q in it, and no canary", err, why)
	}
}

// If no connection is made, the error says why.
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

// Many first tokens cause one fetch, which is a request for the URL of the keys and one for the keys.
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

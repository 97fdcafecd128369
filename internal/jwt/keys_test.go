package jwt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/token"
)

// check verifies a token and compares the error, and the requests so far.
func (i *issuer) check(t *testing.T, v *Verifier, name, bearer string, want error, requests int) {
	t.Helper()
	if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, want) || i.count() != requests {
		t.Errorf("%s: Verify = %v after %d requests, want %v and %d", name, err, i.count(), want, requests)
	}
}

// TestFetches checks when keys are fetched: for the first token the discovery
// document and the keys, then the keys at most once a minute.
func TestFetches(t *testing.T) {
	i, k1 := newIssuer(t)
	v, ok := i.verifier(t), error(nil)
	token1 := i.token(t, k1, nil, object{"exp": i.now.Add(4 * time.Hour).Unix()})
	i.check(t, v, "a token without a key id", i.token(t, k1, object{"kid": nil}, nil), token.ErrInvalid, 0)
	for range 100 {
		i.check(t, v, "the first hundred tokens", token1, ok, 2)
	}
	k2 := i.newKey("k2")
	token2 := i.token(t, k2, object{"kid": "k2"}, object{"exp": i.now.Add(4 * time.Hour).Unix()})
	i.now = i.now.Add(interval - 1)
	for range 200 {
		i.check(t, v, "a new key within a minute", token2, token.ErrInvalid, 2)
	}
	i.now = i.now.Add(1)
	for n := range 200 {
		i.check(t, v, "a forged token", i.token(t, k1, object{"kid": fmt.Sprint(n)}, nil), token.ErrInvalid, 3)
	}
	i.check(t, v, "a new key after a minute", token2, ok, 3)
	i.keys = i.keys[1:]
	i.now = i.now.Add(maxAge - 1)
	i.check(t, v, "a withdrawn key within an hour", token1, ok, 3)
	i.now = i.now.Add(1)
	i.check(t, v, "a withdrawn key after an hour", token1, token.ErrInvalid, 4)
	i.check(t, v, "the other key", token2, ok, 4)
}

// answer returns a fault that answers the same at path, or everywhere.
func answer(path string, status int, contentType, body string) fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if path != "" && path != r.URL.Path {
			return false
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(body, "HOST", r.Host))
		return true
	}
}

// hijacked returns a fault that answers with text in place of HTTP.
func hijacked(text string) fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			fmt.Fprint(connection, text)
			_ = connection.Close() // it was only written
		}
		return true
	}
}

// TestFaults checks each fault of an issuer, first without keys, then with old ones.
func TestFaults(t *testing.T) {
	const (
		keys = "/keys"
		json = "application/json"
		big  = 2 << 20
	)
	for name, fault := range map[string]fault{
		"it fails":         answer("", 500, json, `{"keys":[],"canary":1}`),
		"it is slow":       func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
		"it hangs up":      func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"a captive portal": answer("", 200, "text/html", "<p>canary"),
		"no JSON":          answer("", 200, json, "canary"),
		"keys of 2 MB":     answer(keys, 200, json, `{"keys":[],"canary":"`+strings.Repeat("a", big)+`"}`),
		"keys as text":     answer(keys, 200, "text/plain", `{"keys":[]}`),
		"keys redirected":  answer(keys, 302, json, `{"keys":[]}`),
		"no keys":          answer(keys, 200, json, `{"message":"canary"}`),
		"an empty set":     answer(keys, 200, json, `{"keys":[]}`),
		"no HTTP":          hijacked("canary\r\n"),
		"a dead URL":       answer(configuration, 200, json, `{"issuer":"http://HOST","jwks_uri":"http://127.0.0.1:1/keys"}`),
		"a long URL":       answer(configuration, 200, json, `{"issuer":"http://HOST","jwks_uri":"http://HOST/`+strings.Repeat("a", 2048)+`"}`),
		"a URL with a user": answer(configuration, 200, json,
			`{"issuer":"http://HOST","jwks_uri":"http://canary@HOST/keys"}`),
		"moved":          answer(configuration, 301, json, `{}`),
		"another issuer": answer(configuration, 200, json, `{"issuer":"http://canary","jwks_uri":"http://HOST/keys"}`),
		"no URL of keys": answer(configuration, 200, json, `{"issuer":"http://HOST"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, k1 := newIssuer(t)
			v := i.verifier(t)
			bearer := i.token(t, k1, nil, object{"exp": i.now.Add(4 * time.Hour).Unix()})
			i.fail(fault)
			start := time.Now()
			_, err := v.Verify(t.Context(), bearer)
			if took := time.Since(start); !errors.Is(err, token.ErrUnavailable) ||
				strings.Contains(err.Error(), "canary") || took > 1700*time.Millisecond {
				t.Errorf("Verify = %v after %v, want ErrUnavailable within the authorizer's budget", err, took)
			}
			i.check(t, v, "within a minute", bearer, token.ErrUnavailable, i.count())
			i.fail(nil)
			i.now = i.now.Add(interval)
			if _, err := v.Verify(t.Context(), bearer); err != nil {
				t.Errorf("Verify after the fault = %v, want nil", err)
			}
			i.fail(answer("", 500, json, ""))
			if strings.HasPrefix(name, "keys") {
				i.fail(fault)
			}
			i.now = i.now.Add(maxAge)
			requests := i.count() + 1
			i.check(t, v, "an old key", bearer, nil, requests)
			i.check(t, v, "an unknown key", i.token(t, k1, object{"kid": "k2"}, nil), token.ErrUnavailable, requests)
		})
	}
}

// TestTLS checks what an https issuer needs.
func TestTLS(t *testing.T) {
	i, k1 := newIssuer(t)
	i.Server = httptest.NewTLSServer(i)
	defer i.Close()
	i.fail(answer("", 200, "application/json", `{"issuer":"https://HOST","jwks_uri":"http://HOST/keys"}`))
	bearer := i.token(t, k1, nil, nil)
	for _, want := range []string{"certificate", "no https URL"} {
		v := i.verifier(t)
		if want != "certificate" {
			v.client.Transport = i.Client().Transport // which trusts it
		}
		if _, err := v.Verify(t.Context(), bearer); !errors.Is(err, token.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("Verify = %v, want ErrUnavailable for %q", err, want)
		}
	}
}

// TestConcurrency checks that many first tokens cause one fetch, and that a caller
// waits no longer than its context.
func TestConcurrency(t *testing.T) {
	i, k1 := newIssuer(t)
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
	if got := i.count(); got != 2 {
		t.Errorf("50 first tokens cause %d requests, want 2", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := i.verifier(t).Verify(ended, bearer); !errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Verify with a context that has ended = %v, want ErrUnavailable", err)
	}
}

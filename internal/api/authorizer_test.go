package api

import (
	"context"
	"crypto/rand"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/token"
)

const sha256OfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestAuthorizerVerdicts(t *testing.T) {
	store := new(memory.TokenStore)
	valid, issued := issue(t, store, now)
	expired, _ := issue(t, store, now.Add(-time.Hour))
	revoked, gone := issue(t, store, now)
	if err := store.Revoke(t.Context(), gone.Digest); err != nil {
		t.Fatal(err)
	}
	unknown, _ := issue(t, new(memory.TokenStore), now)
	typo := valid[:39] + "0"
	if typo == valid {
		typo = valid[:39] + "1"
	}

	const missing, malformed, invalid = "missing", "malformed", "invalid"
	allow := `{"verdict":"allow","presented":"HASH","subject":"gardener","token_id":"` + issued.ID + `"}`
	tests := []struct {
		name  string
		value string // of the Authorization header
		want  string // the context, or the reason of a deny
	}{
		{"a valid token", "Bearer " + valid, allow},
		{"the scheme in lower case", "bearer " + valid, allow},
		{"the scheme in mixed case", "bEARER " + valid, allow},
		{"several spaces", "Bearer   " + valid, allow},

		{"an empty value", "", missing},
		{"another scheme", "Basic cGxhbnQ6c3RvcmU=", missing},
		{"a scheme that starts the same", "Bearers " + valid, missing},
		{"the token alone", valid, missing},

		{"the scheme alone", "Bearer", malformed},
		{"the scheme and a space", "Bearer ", malformed},
		{"the scheme and spaces", "Bearer   ", malformed},
		{"two words after the scheme", "Bearer a b", malformed},
		{"a token and a word", "Bearer " + valid + " x", malformed},
		{"a comma in the token", "Bearer a,b", malformed},
		{"two credentials, joined", "Bearer a, Bearer b", malformed},
		{"two credentials, joined as API Gateway does", "Bearer " + valid + ",Bearer " + valid, malformed},
		{"a tab after the scheme", "Bearer\t" + valid, malformed},
		{"a tab before the token", "Bearer \t" + valid, malformed},
		{"a tab within the token", "Bearer a\tb", malformed},
		{"quotes", `Bearer "` + valid + `"`, malformed},
		{"a token beyond ASCII", "Bearer ä", malformed},

		{"a token that is none of ours", "Bearer abc-._~+/=", invalid},
		{"a token with a typo", "Bearer " + typo, invalid},
		{"a token in lower case", "Bearer " + strings.ToLower(valid), invalid},
		{"an unknown token", "Bearer " + unknown, invalid},
		{"an expired token", "Bearer " + expired, invalid},
		{"a revoked token", "Bearer " + revoked, invalid},
		{"the digest of a token", "Bearer " + issued.Digest, invalid},
	}
	for _, test := range tests {
		want := test.want
		if !strings.HasPrefix(want, "{") {
			want = `{"verdict":"deny","presented":"HASH","reason":"` + want + `"}`
		}
		want = strings.Replace(want, "HASH", sha256Hex(test.value), 1)
		event := authorizerEvent(t, map[string]string{"authorization": test.value})
		if got := authorize(t, newAuthorizer(store), event); got != want {
			t.Errorf("%s: Invoke = %s, want %s", test.name, got, want)
		}
	}
}

func TestAuthorizerHeaders(t *testing.T) {
	store := new(memory.TokenStore)
	valid, issued := issue(t, store, now)
	allow := `{"verdict":"allow","presented":"` + sha256Hex("Bearer "+valid) + `","subject":"gardener","token_id":"` + issued.ID + `"}`
	const missing = `{"verdict":"deny","presented":"` + sha256OfNothing + `","reason":"missing"}`
	tests := []struct {
		name    string
		headers map[string]string
		want    string
	}{
		{"the name in lower case", map[string]string{"authorization": "Bearer " + valid}, allow},
		{"the name as clients write it", map[string]string{"Authorization": "Bearer " + valid}, allow},
		{"the name in upper case", map[string]string{"AUTHORIZATION": "Bearer " + valid}, allow},
		{
			"two values",
			map[string]string{"Authorization": "Bearer a", "authorization": "Bearer b"},
			`{"verdict":"deny","presented":"` + sha256Hex("Bearer a,Bearer b") + `","reason":"malformed"}`,
		},
		{"no value", map[string]string{"x-authorization": "Bearer " + valid}, missing},
		{"no headers", map[string]string{}, missing},
		{"null for headers", nil, missing},
	}
	for _, test := range tests {
		if got := authorize(t, newAuthorizer(store), authorizerEvent(t, test.headers)); got != test.want {
			t.Errorf("%s: Invoke = %s, want %s", test.name, got, test.want)
		}
	}
}

func TestAuthorizerUnavailable(t *testing.T) {
	secret, _ := issue(t, new(memory.TokenStore), now)
	tests := []struct {
		name  string
		store finder
	}{
		{"an unavailable store", func() error { return token.ErrUnavailable }},
		{"a broken store", func() error { return errors.New("broken") }},
		{"a store that panics", func() error { panic("broken") }},
	}
	for _, test := range tests {
		event := authorizerEvent(t, map[string]string{"authorization": "Bearer " + secret})
		want := `{"verdict":"unavailable","presented":"` + sha256Hex("Bearer "+secret) + `"}`
		if got := authorize(t, newAuthorizer(test.store), event); got != want {
			t.Errorf("%s: Invoke = %s, want %s", test.name, got, want)
		}
	}
	for _, event := range []string{"", " ", "x", "\xff", "{", "1", `"x"`, "[]", "{}{}", `{"requestContext":1}`, `{"requestContext":1}`} {
		want := `{"verdict":"unavailable","presented":"` + sha256OfNothing + `"}`
		if got := authorize(t, newAuthorizer(new(memory.TokenStore)), []byte(event)); got != want {
			t.Errorf("Invoke(%q) = %s, want %s", event, got, want)
		}
	}
}

// finder is a store of which each read fails.
type finder func() error

func (f finder) Find(context.Context, string) (token.Token, error) { return token.Token{}, f() }

// issue adds a token of the gardener to store, which expires an hour after at.
func issue(t *testing.T, store *memory.TokenStore, at time.Time) (secret string, issued token.Token) {
	t.Helper()
	secret, issued, err := token.Issue(rand.Reader, "gardener", at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return secret, issued
}

func newAuthorizer(tokens token.Finder) *Authorizer {
	clock := func() time.Time { return now }
	return &Authorizer{Tokens: token.Verifier{Store: tokens, Now: clock}, Log: slog.New(slog.DiscardHandler), Now: clock}
}

func authorizerEvent(t *testing.T, headers map[string]string) []byte {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"version":        "2.0",
		"type":           "REQUEST",
		"identitySource": []string{"POST /plants"},
		"headers":        headers,
		"requestContext": map[string]any{"requestId": "r1"},
	}, json.Deterministic(true), json.FormatNilMapAsNull(true))
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// authorize returns the context, as it is written, of the authorizer's answer, which must be
// "authorized" whatever the event is.
func authorize(t *testing.T, a *Authorizer, event []byte) string {
	t.Helper()
	out, err := a.Invoke(t.Context(), event)
	var response struct {
		IsAuthorized bool           `json:"isAuthorized"`
		Context      jsontext.Value `json:"context"`
	}
	if err != nil || json.Unmarshal(out, &response, strictly) != nil || !response.IsAuthorized {
		t.Errorf("Invoke(%.200q) = %s, %v, want an answer that is authorized", event, out, err)
		return ""
	}
	return string(response.Context)
}

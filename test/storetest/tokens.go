// Package tokentest holds the suite that every token.Store passes.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"plantstore/internal/token"
)

// TestTokens runs the suite, each test on an empty store of its own.
func TestTokens(t *testing.T, newStore func(*testing.T) token.Store) {
	t.Run("a token added is found as it was", func(t *testing.T) { testFind(t, newStore(t)) })
	t.Run("a token revoked is gone at once", func(t *testing.T) { testRevoke(t, newStore(t)) })
	t.Run("all tokens are listed", func(t *testing.T) { testList(t, newStore(t)) })
	t.Run("a context that has ended", func(t *testing.T) { testTokensEndedContext(t, newStore(t)) })
}

func testFind(t *testing.T, store token.Store) {
	if _, err := store.Find(t.Context(), newToken(1).Digest); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Find in an empty store = %v, want %v", err, token.ErrNotFound)
	}
	add(t, store, newToken(1), newToken(2), newToken(2))
	for _, want := range []token.Token{newToken(1), newToken(2)} {
		if got, err := store.Find(t.Context(), want.Digest); err != nil || got != want {
			t.Errorf("Find(%q) = %+v, %v, want %+v", want.Digest, got, err, want)
		}
	}
	if _, err := store.Find(t.Context(), newToken(3).Digest); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Find of an unknown digest = %v, want %v", err, token.ErrNotFound)
	}
}

func testRevoke(t *testing.T, store token.Store) {
	add(t, store, newToken(1), newToken(2))
	if err := store.Revoke(t.Context(), newToken(1).Digest); err != nil {
		t.Fatalf("Revoke = %v, want nil", err)
	}
	another := newToken(2)
	another.Subject = "florist"
	if err := store.Add(t.Context(), another); err == nil {
		t.Errorf("Add of another token with the same digest = nil, want an error")
	}
	// An Add that was delayed, and a second Revoke, change nothing.
	add(t, store, newToken(1))
	if err := store.Revoke(t.Context(), newToken(1).Digest); err != nil {
		t.Errorf("Revoke again = %v, want nil", err)
	}
	if got, err := store.Find(t.Context(), newToken(1).Digest); err != nil || !got.Revoked {
		t.Errorf("Find of a revoked token = %+v, %v, want it revoked", got, err)
	}
	if _, err := store.Find(t.Context(), newToken(2).Digest); err != nil {
		t.Errorf("Find of another token = %v, want nil", err)
	}
	if err := store.Revoke(t.Context(), newToken(3).Digest); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Revoke of an unknown token = %v, want %v", err, token.ErrNotFound)
	}
}

func testList(t *testing.T, store token.Store) {
	var want []token.Token
	for i := range 40 {
		want = append(want, newToken(i))
	}
	add(t, store, want...)
	got, err := store.List(t.Context())
	slices.SortFunc(got, func(a, b token.Token) int { return cmp.Compare(a.ID, b.ID) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("List = %v, %v, want %v", got, err, want)
	}
}

func testTokensEndedContext(t *testing.T, store token.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, findErr := store.Find(ended, newToken(1).Digest)
	_, listErr := store.List(ended)
	for operation, err := range map[string]error{
		"Find":   findErr,
		"List":   listErr,
		"Add":    store.Add(ended, newToken(1)),
		"Revoke": store.Revoke(ended, newToken(1).Digest),
	} {
		if !errors.Is(err, token.ErrUnavailable) {
			t.Errorf("%s in an ended context = %v, want %v", operation, err, token.ErrUnavailable)
		}
	}
}

func add(t *testing.T, store token.Store, tokens ...token.Token) {
	t.Helper()
	for _, added := range tokens {
		if err := store.Add(t.Context(), added); err != nil {
			t.Fatalf("Add(%+v) = %v, want nil", added, err)
		}
	}
}

// newToken returns the token numbered i.
func newToken(i int) token.Token {
	created := time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC)
	return token.Token{
		Digest:    token.Digest(fmt.Sprint("secret", i)),
		ID:        fmt.Sprintf("id%03d", i),
		Subject:   "gardener",
		CreatedAt: created,
		ExpiresAt: created.Add(time.Hour),
	}
}

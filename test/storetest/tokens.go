package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"plantstore/internal/token"
)

// TestTokens tests a token.Store. newStore returns an empty one.
func TestTokens(t *testing.T, newStore func(*testing.T) token.Store) {
	t.Run("a revoked token stays revoked", func(t *testing.T) { testRevoke(t, newStore(t)) })
	t.Run("an ended context", func(t *testing.T) { testTokensEndedContext(t, newStore(t)) })
}

// testRevoke adds tokens, all at once, and revokes one after the other.
func testRevoke(t *testing.T, store token.Store) {
	var tokens []token.Token
	var group sync.WaitGroup
	for i := range 5 {
		added := newToken(i)
		tokens = append(tokens, added)
		group.Go(func() {
			check(t, store, added, token.ErrNotFound)
			add(t, store, added)
			add(t, store, added)
		})
	}
	group.Wait()
	for i := range tokens {
		another := tokens[i]
		another.Subject = "florist"
		if err := store.Add(t.Context(), another); err == nil {
			t.Errorf("Add(%+v) = nil, want an error: the digest is another token's", another)
		}
		check(t, store, tokens[i], nil)
		for range 2 {
			if err := store.Revoke(t.Context(), tokens[i].Digest); err != nil {
				t.Errorf("Revoke(%q) = %v, want nil", tokens[i].Digest, err)
			}
		}
		add(t, store, tokens[i]) // a delayed Add does not undo Revoke
		tokens[i].Revoked = true
		check(t, store, tokens[i], nil)
	}
	if err := store.Revoke(t.Context(), newToken(9).Digest); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Revoke of an unknown token = %v, want %v", err, token.ErrNotFound)
	}
}

func add(t *testing.T, store token.Store, added token.Token) {
	t.Helper()
	if err := store.Add(t.Context(), added); err != nil {
		t.Errorf("Add(%+v) = %v, want nil", added, err)
	}
}

// check checks that the store finds want by its digest, or returns an error.
func check(t *testing.T, store token.Store, want token.Token, wantErr error) {
	t.Helper()
	digest := want.Digest
	if wantErr != nil {
		want = token.Token{}
	}
	if got, err := store.Find(t.Context(), digest); got != want || !errors.Is(err, wantErr) {
		t.Errorf("Find(%q) = %+v, %v, want %+v, %v", digest, got, err, want, wantErr)
	}
}

func testTokensEndedContext(t *testing.T, store token.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for operation, call := range map[string]func() error{
		"Find":   func() error { _, err := store.Find(ended, newToken(1).Digest); return err },
		"Add":    func() error { return store.Add(ended, newToken(1)) },
		"Revoke": func() error { return store.Revoke(ended, newToken(1).Digest) },
	} {
		if err := call(); !errors.Is(err, token.ErrUnavailable) {
			t.Errorf("%s in an ended context = %v, want %v", operation, err, token.ErrUnavailable)
		}
	}
}

// newToken returns the token numbered i, which has expired.
func newToken(i int) token.Token {
	return token.Token{
		Digest:    token.Digest(fmt.Sprint("secret", i)),
		ID:        fmt.Sprint("id", i),
		Subject:   "gardener",
		CreatedAt: time.Unix(1_000_000_000, 0).UTC(),
		ExpiresAt: time.Unix(1_000_003_600, 0).UTC(),
	}
}

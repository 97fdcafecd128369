package storetest

import (
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"plantstore/internal/token"
)

// TestTokens tests a token.Store.
func TestTokens(t *testing.T, store token.Store) {
	t.Run("a token is found as it was added first", func(t *testing.T) { testAdd(t, store) })
	t.Run("a token that is added while it is revoked stays revoked", func(t *testing.T) { testRevoke(t, store) })
	t.Run("an unknown id is not found", func(t *testing.T) { testUnknown(t, store) })
}

func testAdd(t *testing.T, store token.Store) {
	first, second := newToken(), newToken()
	add(t, store, first)
	add(t, store, second)
	add(t, store, first)
	other := first
	other.Digest = token.Digest("another secret")
	err := store.Add(t.Context(), other)
	if err == nil || errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Add(%+v) = %v, want an error about the other token with this id", other, err)
	}
	checkFind(t, store, first)
	checkFind(t, store, second)
}

func testRevoke(t *testing.T, store token.Store) {
	revoked, other := newToken(), newToken()
	add(t, store, revoked)
	add(t, store, other)
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { add(t, store, revoked) })
		group.Go(func() { revoke(t, store, revoked.ID, nil) })
	}
	group.Wait()
	add(t, store, revoked) // after the revocation
	checkFind(t, store, other)
	revoked.Revoked = true
	checkFind(t, store, revoked)
}

func testUnknown(t *testing.T, store token.Store) {
	unknown := newToken()
	revoke(t, store, unknown.ID, token.ErrNotFound) // this adds nothing
	got, err := store.Find(t.Context(), unknown.ID)
	if !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Find(%q) = %+v, %v, want %v", unknown.ID, got, err, token.ErrNotFound)
	}
}

func add(t *testing.T, store token.Store, added token.Token) {
	t.Helper()
	if err := store.Add(t.Context(), added); err != nil {
		t.Errorf("Add(%+v) = %v, want nil", added, err)
	}
}

// revoke revokes a token and checks the error.
func revoke(t *testing.T, store token.Store, id string, want error) {
	t.Helper()
	if err := store.Revoke(t.Context(), id); !errors.Is(err, want) {
		t.Errorf("Revoke(%q) = %v, want %v", id, err, want)
	}
}

// checkFind checks that the store finds want by its id.
func checkFind(t *testing.T, store token.Store, want token.Token) {
	t.Helper()
	got, err := store.Find(t.Context(), want.ID)
	if err != nil {
		t.Errorf("Find(%q) = %v, want the token", want.ID, err)
	}
	if got != want {
		t.Errorf("Find(%q) = %+v, want %+v", want.ID, got, want)
	}
}

// newToken returns a token with a new id, which has expired.
func newToken() token.Token {
	id := rand.Text()
	return token.Token{
		ID:        id,
		Digest:    token.Digest("the token " + id),
		Subject:   "alice",
		CreatedAt: time.Unix(1_000_000_000, 0).UTC(),
		ExpiresAt: time.Unix(1_000_003_600, 0).UTC(),
	}
}

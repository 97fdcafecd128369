package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"plantstore/internal/token"
)

// TestTokens tests a token.Store. newStore returns an empty one.
func TestTokens(t *testing.T, newStore func(*testing.T) token.Store) {
	tests := []struct {
		name string
		test func(*testing.T, token.Store)
	}{
		{name: "a token is found as it was added", test: testFind},
		{name: "adding a token again changes nothing", test: testAddAgain},
		{name: "a token does not replace another with its id", test: testAddOther},
		{name: "a revoked token stays revoked", test: testRevoke},
		{name: "a token that is added while it is revoked stays revoked", test: testRevokeWhileAdding},
		{name: "an unknown id is not found", test: testUnknown},
		{name: "nothing is done in an ended context", test: testTokensEndedContext},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, newStore(t)) })
	}
}

func testFind(t *testing.T, store token.Store) {
	first, second := newToken("aaaaaaaaaaaa"), newToken("bbbbbbbbbbbb")
	add(t, store, first)
	add(t, store, second)
	checkFind(t, store, first)
	checkFind(t, store, second)
}

func testAddAgain(t *testing.T, store token.Store) {
	added := newToken("aaaaaaaaaaaa")
	add(t, store, added)
	add(t, store, added)
	checkFind(t, store, added)
}

func testAddOther(t *testing.T, store token.Store) {
	added := newToken("aaaaaaaaaaaa")
	add(t, store, added)
	other := added
	other.Digest = token.Digest("another secret")
	if err := store.Add(t.Context(), other); err == nil || errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Add(%+v) = %v, want an error about the other token with this id", other, err)
	}
	checkFind(t, store, added)
}

func testRevoke(t *testing.T, store token.Store) {
	revoked, other := newToken("aaaaaaaaaaaa"), newToken("bbbbbbbbbbbb")
	add(t, store, revoked)
	add(t, store, other)
	revoke(t, store, revoked.ID)
	revoke(t, store, revoked.ID)
	add(t, store, revoked) // a delayed Add
	checkFind(t, store, other)
	revoked.Revoked = true
	checkFind(t, store, revoked)
}

func testRevokeWhileAdding(t *testing.T, store token.Store) {
	added := newToken("aaaaaaaaaaaa")
	add(t, store, added)
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { add(t, store, added) })
		group.Go(func() { revoke(t, store, added.ID) })
	}
	group.Wait()
	added.Revoked = true
	checkFind(t, store, added)
}

func testUnknown(t *testing.T, store token.Store) {
	add(t, store, newToken("aaaaaaaaaaaa"))
	const unknown = "bbbbbbbbbbbb"
	if got, err := store.Find(t.Context(), unknown); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Find(%q) = %+v, %v, want %v", unknown, got, err, token.ErrNotFound)
	}
	if err := store.Revoke(t.Context(), unknown); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Revoke(%q) = %v, want %v", unknown, err, token.ErrNotFound)
	}
	// Revoke has added nothing.
	if got, err := store.Find(t.Context(), unknown); !errors.Is(err, token.ErrNotFound) {
		t.Errorf("Find(%q) after Revoke = %+v, %v, want %v", unknown, got, err, token.ErrNotFound)
	}
}

func testTokensEndedContext(t *testing.T, store token.Store) {
	stored, added := newToken("aaaaaaaaaaaa"), newToken("bbbbbbbbbbbb")
	add(t, store, stored)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := store.Find(ended, stored.ID); !errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Find in an ended context = %+v, %v, want %v", got, err, token.ErrUnavailable)
	}
	if err := store.Add(ended, added); !errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Add in an ended context = %v, want %v", err, token.ErrUnavailable)
	}
	if err := store.Revoke(ended, stored.ID); !errors.Is(err, token.ErrUnavailable) {
		t.Errorf("Revoke in an ended context = %v, want %v", err, token.ErrUnavailable)
	}
	checkFind(t, store, stored)
}

func add(t *testing.T, store token.Store, added token.Token) {
	t.Helper()
	if err := store.Add(t.Context(), added); err != nil {
		t.Errorf("Add(%+v) = %v, want nil", added, err)
	}
}

func revoke(t *testing.T, store token.Store, id string) {
	t.Helper()
	if err := store.Revoke(t.Context(), id); err != nil {
		t.Errorf("Revoke(%q) = %v, want nil", id, err)
	}
}

// checkFind checks that the store finds want by its id.
func checkFind(t *testing.T, store token.Store, want token.Token) {
	t.Helper()
	got, err := store.Find(t.Context(), want.ID)
	if err != nil || got != want {
		t.Errorf("Find(%q) = %+v, %v, want %+v", want.ID, got, err, want)
	}
}

// newToken returns a token with this id, which has expired.
func newToken(id string) token.Token {
	return token.Token{
		ID:        id,
		Digest:    token.Digest("the token " + id),
		Subject:   "gardener",
		CreatedAt: time.Unix(1_000_000_000, 0).UTC(),
		ExpiresAt: time.Unix(1_000_003_600, 0).UTC(),
	}
}

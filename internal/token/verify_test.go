package token

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type find func(id string) (Token, error)

func (f find) Find(_ context.Context, id string) (Token, error) { return f(id) }

func TestVerify(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name    string
		after   time.Duration // since the token was issued; it is valid for an hour
		revoked bool
		digest  func(own string) string // changes the digest in the store
		err     error                   // from the store
		want    error
		known   bool // whether the token is returned
	}{
		{name: "a valid token in its last moment", after: time.Hour - 1, known: true},
		{name: "the moment of expiry", after: time.Hour, want: errExpired, known: true},
		{name: "a revoked token", revoked: true, want: errRevoked, known: true},
		{name: "no token with this id", err: ErrNotFound, want: errUnknown},
		{
			name:   "the token with this id has another secret",
			digest: func(string) string { return Digest("another") }, want: errUnknown,
		},
		{name: "the token with this id has no digest", digest: func(string) string { return "" }, want: errUnknown},
		{
			name:   "the digest differs in its last digit",
			digest: func(own string) string { return own[:len(own)-1] + "x" }, want: errUnknown,
		},
		{name: "the store is broken", err: broken, want: broken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bearer, issued, err := Issue("alice", time.Now(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				store := find(func(id string) (Token, error) {
					if id != issued.ID {
						t.Errorf("Find(%q), want the token's id, %q", id, issued.ID)
					}
					stored := issued
					stored.Revoked = test.revoked
					if test.digest != nil {
						stored.Digest = test.digest(issued.Digest)
					}
					return stored, test.err
				})
				time.Sleep(test.after)
				got, err := Verify(t.Context(), store, bearer)
				if known := got.ID == issued.ID; known != test.known || !errors.Is(err, test.want) {
					t.Errorf("Verify = %+v, %v, want %v, token returned: %t", got, err, test.want, test.known)
				}
			})
		})
	}
}

func TestVerifyMistyped(t *testing.T) {
	store := find(func(id string) (Token, error) {
		t.Errorf("Find(%q), want no call", id)
		return Token{}, nil
	})
	_, err := Verify(t.Context(), store, prefix+"mistyped")
	if !errors.Is(err, errMistyped) {
		t.Errorf("Verify = %v, want %v", err, errMistyped)
	}
}

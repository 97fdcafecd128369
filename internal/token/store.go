package token

import (
	"context"
	"errors"
)

// Errors of [Finder] and [Store].
var (
	// ErrNotFound means that the store holds no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that a change may have been made, or may yet be: repeat the call.
	ErrUnavailable = errors.New("token: store is unavailable")
)

// Finder is the part of a [Store] that a [StoreVerifier] needs.
type Finder interface {
	// Find returns the token with this id, also if it is expired or revoked. It sees every Add and Revoke that returned
	// before. It returns ErrNotFound or ErrUnavailable. Any other error, here and below, means that no call can
	// succeed until an operator changes something.
	Find(ctx context.Context, id string) (Token, error)
}

// Store is a Finder with what an operator needs besides.
type Store interface {
	Finder

	// Add stores t. It may be repeated, and never changes a stored token: it is an error if another one has the id. It
	// returns ErrUnavailable.
	Add(ctx context.Context, t Token) error

	// Revoke makes the token with this id invalid for good: no concurrent or later Add undoes it. It may be repeated. It
	// returns ErrNotFound or ErrUnavailable.
	Revoke(ctx context.Context, id string) error
}

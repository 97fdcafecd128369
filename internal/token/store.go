package token

import (
	"context"
	"errors"
)

// Errors of [Finder] and [Store].
var (
	// ErrNotFound means that the store holds no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the call did not change a token and never will.
	ErrUnavailable = errors.New("token: cannot be checked or changed now")

	// ErrOutcomeUnknown means that the change may have been made, or may yet be: repeat the call.
	ErrOutcomeUnknown = errors.New("token: outcome is unknown")
)

// Finder is the part of a [Store] that a [StoreVerifier] needs.
type Finder interface {
	// Find returns the token with this id, also if it is expired or revoked. It sees every Add and Revoke that returned
	// before. It returns ErrNotFound or ErrUnavailable. Any other error, here and below, means that nothing was changed,
	// and that no call can succeed until an operator changes something.
	Find(ctx context.Context, id string) (Token, error)
}

// Store is a Finder with what an operator needs besides.
type Store interface {
	Finder

	// Add stores t. It may be repeated, and never changes a stored token: it is an error if another one has the id. It
	// returns ErrUnavailable or ErrOutcomeUnknown.
	Add(ctx context.Context, t Token) error

	// Revoke makes the token with this id invalid for good: no concurrent or later Add undoes it. It may be repeated. It
	// returns ErrNotFound, ErrUnavailable or ErrOutcomeUnknown.
	Revoke(ctx context.Context, id string) error
}

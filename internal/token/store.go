package token

import (
	"context"
	"errors"
)

// Errors of [Finder] and [Store].
var (
	// ErrNotFound means that the store holds no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the store could not be reached, or refused the call. The call did not change
	// a token and never will.
	ErrUnavailable = errors.New("token: cannot be checked or changed now")

	// ErrOutcomeUnknown means that the change may have been made, or may yet be: repeat the call.
	ErrOutcomeUnknown = errors.New("token: outcome is unknown")
)

// Finder finds tokens. It is all that a [StoreVerifier] needs of a store.
type Finder interface {
	// Find returns the token with this id, also if it is expired or revoked. It sees every Add and
	// Revoke that returned before it was called. It returns ErrNotFound or ErrUnavailable. Any other
	// error means that Find cannot succeed until an operator changes something, such as the item, the table or
	// the role.
	Find(ctx context.Context, id string) (Token, error)
}

// Store is a Finder with what an operator needs besides.
type Store interface {
	Finder

	// Add stores the new token t under its id. It may be repeated, and never changes a stored token. It
	// returns ErrUnavailable or ErrOutcomeUnknown. Any other error means that a different token has the
	// id, or that Add cannot succeed until an operator changes something, and nothing was stored.
	Add(ctx context.Context, t Token) error

	// Revoke makes the token with this id invalid for good: no concurrent or later Add undoes it. It
	// may be repeated. It returns ErrNotFound, ErrUnavailable or ErrOutcomeUnknown. Any other error means
	// that Revoke cannot succeed until an operator changes something, and nothing was changed.
	Revoke(ctx context.Context, id string) error
}

package token

import (
	"context"
	"errors"
)

// Errors of [Store].
var (
	// ErrNotFound means that the store has no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the store gave no answer. A change may have been made, or may yet be: repeat the call.
	ErrUnavailable = errors.New("token: store is unavailable")
)

// Store has tokens. Any error other than those above means that no call can succeed until an operator changes
// something.
type Store interface {
	// Find returns the token with this id, also if it is expired or revoked. It sees every Add and Revoke that returned
	// before. It returns ErrNotFound or ErrUnavailable.
	Find(ctx context.Context, id string) (Token, error)

	// Add stores t. It may be repeated, and never changes a stored token: it is an error if another one has the id. It
	// returns ErrUnavailable.
	Add(ctx context.Context, t Token) error

	// Revoke makes the token with this id invalid for good: no concurrent or later Add undoes it. It may be repeated.
	// It returns ErrNotFound or ErrUnavailable.
	Revoke(ctx context.Context, id string) error
}

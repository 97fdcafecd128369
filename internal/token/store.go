package token

import (
	"context"
	"errors"
)

// Errors of [Store].
var (
	// ErrNotFound means that the store has no token with this id.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the store did not answer. A change may have been made, or may still be.
	ErrUnavailable = errors.New("token: store is unavailable")
)

// Store keeps tokens.
type Store interface {
	// Find returns the token with this id, even if it is expired or revoked. It sees every change that was complete when
	// it was called. It returns ErrNotFound or ErrUnavailable. Any other error means that no call will succeed until an
	// operator acts.
	Find(ctx context.Context, id string) (Token, error)
}

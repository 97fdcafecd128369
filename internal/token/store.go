package token

import (
	"context"
	"errors"
)

// Errors of [Store].
var (
	// ErrNotFound means that the store has no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the store gave no answer. If the call was to change a token, it may have, or may yet.
	ErrUnavailable = errors.New("token: store is unavailable")
)

// Store keeps tokens.
type Store interface {
	// Find returns the token with this id, also if it is expired or revoked. It sees every change that ended before. It
	// returns ErrNotFound or ErrUnavailable. Any other error means that no call can succeed until an operator changes
	// something.
	Find(ctx context.Context, id string) (Token, error)
}

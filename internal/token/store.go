package token

import (
	"context"
	"errors"
)

// Errors returned by a [Store].
var (
	ErrNotFound    = errors.New("token: not found")
	ErrUnavailable = errors.New("token: store is unavailable") // repeat the call
)

// Store keeps tokens.
type Store interface {
	// Find returns the token with this id as it is now, even if it is expired or revoked. An error other than ErrNotFound
	// and ErrUnavailable needs an operator.
	Find(ctx context.Context, id string) (Token, error)
}

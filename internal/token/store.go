package token

import (
	"context"
	"errors"
)

// Errors of [Finder] and [Store].
var (
	// ErrNotFound means that the store holds no such token.
	ErrNotFound = errors.New("token: not found")

	// ErrUnavailable means that the store could not be asked, or refused to work.
	ErrUnavailable = errors.New("token: store is unavailable")
)

// Finder is what the check of a token needs of a store.
type Finder interface {
	// Find returns the token with this digest, also when it has expired. It sees
	// every Add and Revoke that returned before it was called. It returns
	// ErrNotFound or ErrUnavailable; any other error means that it cannot
	// succeed as the service is set up.
	Find(ctx context.Context, digest string) (Token, error)
}

// Store is what an operator needs of it besides.
type Store interface {
	Finder

	// Add stores t under its digest. It may be repeated. It returns
	// ErrUnavailable when it is not certain that the token is stored.
	Add(ctx context.Context, t Token) error

	// List returns every token, in no order. An expired one is listed until the
	// store has removed it. It returns ErrUnavailable, and any other error beside
	// the tokens that it can read where there is one that it cannot.
	List(ctx context.Context) ([]Token, error)

	// Revoke removes the token with this id. It returns ErrNotFound, or
	// ErrUnavailable when it is not certain that the token is gone.
	Revoke(ctx context.Context, id string) error
}

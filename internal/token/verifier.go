package token

import (
	"context"
	"errors"
	"time"
)

// Principal is the client that a valid token denotes.
type Principal struct {
	// Subject is the client that the token was issued to.
	Subject string

	// TokenID names the token in logs.
	TokenID string
}

// Verifier verifies the opaque tokens in a store.
type Verifier struct {
	Store Finder

	// Now returns the time at which a token must be valid.
	Now func() time.Time
}

// Verify returns the principal of secret, if secret is a valid token now. It
// returns [ErrInvalid] if it is not, and the error of the store if Find fails. It
// does the same work for every well-formed secret, valid or not.
//
// Verify checks the expiry itself, because DynamoDB may remove an expired item
// days late.
func (v Verifier) Verify(ctx context.Context, secret string) (Principal, error) {
	if !WellFormed(secret) {
		return Principal{}, ErrInvalid
	}
	t, err := v.Store.Find(ctx, Digest(secret))
	switch {
	case errors.Is(err, ErrNotFound):
		return Principal{}, ErrInvalid
	case err != nil:
		return Principal{}, err
	case t.Revoked || t.Expired(v.Now()):
		return Principal{}, ErrInvalid
	}
	return Principal{Subject: t.Subject, TokenID: t.ID}, nil
}

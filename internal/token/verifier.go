package token

import (
	"context"
	"errors"
	"time"
)

// Principal is whom a valid token denotes.
type Principal struct {
	// Subject is whom the token was issued to.
	Subject string

	// TokenID names the token in logs.
	TokenID string
}

// Verifier verifies the opaque tokens in a store.
type Verifier struct {
	Store Finder

	// Now is the clock, by which tokens expire.
	Now func() time.Time
}

// Verify returns the principal of secret, if secret is a valid token now. It
// returns [ErrInvalid] if it is not, and the error of the store if the store
// cannot tell. For every well-formed secret it does the same work, whatever the
// reason for a refusal.
//
// Verify checks the expiry and does not leave it to the store: DynamoDB removes
// an expired item up to days late.
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

package token

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Principal is the client that a valid token denotes.
type Principal struct {
	Subject string
	TokenID string // for logs
}

// Verifier verifies the opaque tokens in a store.
type Verifier struct {
	Store Finder
	Now   func() time.Time // the time at which a token must be valid

	// Issuer verifies the tokens without our prefix. If it is nil, they are invalid.
	Issuer Issuer
}

// Issuer verifies the tokens of another issuer, with the errors of [Verifier].
type Issuer interface {
	Verify(ctx context.Context, secret string) (Principal, error)
}

// Verify returns the principal of secret, if secret is a valid token now. It
// returns [ErrInvalid] if it is not, and the error of the store if Find fails. It
// does the same work for every well-formed secret of ours, valid or not.
//
// Verify checks the expiry itself, because DynamoDB may remove an expired item
// days late.
func (v Verifier) Verify(ctx context.Context, secret string) (Principal, error) {
	if v.Issuer != nil && !strings.HasPrefix(secret, prefix) {
		return v.Issuer.Verify(ctx, secret)
	}
	if !WellFormed(secret) {
		return Principal{}, ErrInvalid
	}
	t, err := v.Store.Find(ctx, Digest(secret))
	if errors.Is(err, ErrNotFound) || err == nil && (t.Revoked || t.Expired(v.Now())) {
		return Principal{}, ErrInvalid
	}
	if err != nil {
		return Principal{}, err
	}
	return Principal{Subject: t.Subject, TokenID: t.ID}, nil
}

package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"
)

// ErrInvalid means that a token gives no access. A client must not learn why.
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// A Reason is an [ErrInvalid], in one word for the log.
type Reason string

// The reasons.
const (
	ReasonForm    Reason = "form"    // not a token of this service, or mistyped
	ReasonUnknown Reason = "unknown" // no token has this id and this secret
	ReasonExpired Reason = "expired"
	ReasonRevoked Reason = "revoked"
)

func (r Reason) Error() string { return "token: " + string(r) }

// Is implements the interface of [errors.Is].
func (Reason) Is(target error) bool { return target == ErrInvalid }

// Principal is the client of a token.
type Principal struct {
	Subject string
	TokenID string // for logs
}

// Verifier verifies bearer tokens. It is the seam for tokens of another kind, such as the JWTs of an identity provider.
type Verifier interface {
	// Verify returns the principal of bearer, a [Reason] if bearer is not valid now, or [ErrUnavailable]. Any other error
	// means that it cannot succeed until an operator changes something. With a Reason it may return the principal too,
	// for the log.
	Verify(ctx context.Context, bearer string) (Principal, error)
}

// StoreVerifier verifies the tokens in a store.
type StoreVerifier struct {
	Store Finder
}

var _ Verifier = StoreVerifier{}

// Verify implements [Verifier]. It reads the store only for what has the form of a token.
func (v StoreVerifier) Verify(ctx context.Context, bearer string) (Principal, error) {
	id, ok := ParseID(bearer)
	if !ok {
		return Principal{}, ReasonForm
	}
	t, err := v.Store.Find(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return Principal{}, ReasonUnknown
	}
	if err != nil {
		return Principal{}, err
	}
	if subtle.ConstantTimeCompare([]byte(t.Digest), []byte(Digest(bearer))) != 1 {
		return Principal{}, ReasonUnknown
	}
	p := Principal{Subject: t.Subject, TokenID: id}
	switch {
	case t.Revoked:
		return p, ReasonRevoked
	case t.Expired(time.Now()): // DynamoDB may remove an expired item days late
		return p, ReasonExpired
	}
	return p, nil
}

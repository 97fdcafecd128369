package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"
)

// ErrInvalid means that a token gives no access. A client must not learn why.
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// Reason says in one word, for the log, why a token is invalid. [errors.Is] takes each for [ErrInvalid].
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

// Verify returns the token that bearer denotes, if it is valid now. Otherwise it returns a [Reason], with the token if
// bearer has its secret, or an error of store. It reads the store only for what has the form of a token.
func Verify(ctx context.Context, store Store, bearer string) (Token, error) {
	id, ok := ParseID(bearer)
	if !ok {
		return Token{}, ReasonForm
	}
	t, err := store.Find(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return Token{}, ReasonUnknown
	}
	if err != nil {
		return Token{}, err
	}
	if subtle.ConstantTimeCompare([]byte(t.Digest), []byte(Digest(bearer))) != 1 {
		return Token{}, ReasonUnknown
	}
	switch {
	case t.Revoked:
		return t, ReasonRevoked
	case t.Expired(time.Now()): // DynamoDB may remove an expired item days late
		return t, ReasonExpired
	}
	return t, nil
}

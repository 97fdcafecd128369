package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"
)

// ErrInvalid means that a token gives no access. The client must not learn the [Reason].
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// Reason says in one word, for the log, why a token is invalid.
type Reason string

// The reasons why a token is invalid.
const (
	ReasonMalformed Reason = "malformed" // mistyped, or another service's token
	ReasonUnknown   Reason = "unknown"   // no stored token has this id and secret
	ReasonExpired   Reason = "expired"
	ReasonRevoked   Reason = "revoked"
)

func (r Reason) Error() string { return "token: " + string(r) }

// Is makes every Reason an [ErrInvalid] for [errors.Is].
func (Reason) Is(target error) bool { return target == ErrInvalid }

// Verify returns the stored token for bearer if it is valid now. Otherwise it returns a [Reason] or store's error. An
// expired or revoked token is returned with its Reason, for the log.
func Verify(ctx context.Context, store Store, bearer string) (Token, error) {
	id, ok := ParseID(bearer)
	if !ok {
		return Token{}, ReasonMalformed
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

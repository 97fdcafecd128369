package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"
)

// ErrInvalid means that a token gives no access. The client must not learn which of the errors below it is.
var ErrInvalid = errors.New("token: invalid")

// The reasons why a token is invalid. Each is an [ErrInvalid] for [errors.Is].
var (
	ErrMalformed = fmt.Errorf("%w: malformed", ErrInvalid) // mistyped, or another service's token
	ErrUnknown   = fmt.Errorf("%w: unknown", ErrInvalid)   // no stored token has this id and secret
	ErrExpired   = fmt.Errorf("%w: expired", ErrInvalid)
	ErrRevoked   = fmt.Errorf("%w: revoked", ErrInvalid)
)

// Verify returns the stored token for bearer if it is valid now. Otherwise it returns one of the errors above, or store's.
// With [ErrExpired] and [ErrRevoked], it returns the token too, for the log.
func Verify(ctx context.Context, store Store, bearer string) (Token, error) {
	id, ok := ParseID(bearer)
	if !ok {
		return Token{}, ErrMalformed
	}
	t, err := store.Find(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return Token{}, ErrUnknown
	}
	if err != nil {
		return Token{}, err
	}
	if subtle.ConstantTimeCompare([]byte(t.Digest), []byte(Digest(bearer))) != 1 {
		return Token{}, ErrUnknown
	}
	switch {
	case t.Revoked:
		return t, ErrRevoked
	case t.Expired(time.Now()): // DynamoDB may remove an expired item days late
		return t, ErrExpired
	}
	return t, nil
}

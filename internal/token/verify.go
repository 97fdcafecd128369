package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"
)

// ErrInvalid means that a token gives no access. An error that wraps it says why, which is for the log: the client must not
// learn it.
var ErrInvalid = errors.New("token: invalid")

var (
	errMistyped = fmt.Errorf("%w: mistyped", ErrInvalid) // or another service's token
	errUnknown  = fmt.Errorf("%w: unknown", ErrInvalid)  // no stored token has this id and secret
	errExpired  = fmt.Errorf("%w: expired", ErrInvalid)
	errRevoked  = fmt.Errorf("%w: revoked", ErrInvalid)
)

// Verify returns the stored token for bearer if it is valid now. Otherwise it returns an error that wraps
// [ErrInvalid], or store's error. If the token has expired or is revoked, Verify returns it too, for the log.
func Verify(ctx context.Context, store Store, bearer string) (Token, error) {
	id, ok := ParseID(bearer)
	if !ok {
		return Token{}, errMistyped
	}
	t, err := store.Find(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return Token{}, errUnknown
	}
	if err != nil {
		return Token{}, err
	}
	if subtle.ConstantTimeCompare([]byte(t.Digest), []byte(Digest(bearer))) != 1 {
		return Token{}, errUnknown
	}
	switch {
	case t.Revoked:
		return t, errRevoked
	case t.Expired(time.Now()): // DynamoDB may remove an expired item days late
		return t, errExpired
	}
	return t, nil
}

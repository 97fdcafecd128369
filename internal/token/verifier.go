package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"
)

// ErrInvalid means that a token does not open the service. A client must not learn why.
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// A Reason is the error for an invalid token, in one word for the log. Every Reason is [ErrInvalid].
type Reason string

// The reasons for which a token is invalid. Those from ReasonSignature on are for JWTs.
const (
	ReasonForm        Reason = "form"    // neither a token of ours nor a JWT, or mistyped
	ReasonUnknown     Reason = "unknown" // no token has this id and this secret
	ReasonExpired     Reason = "expired"
	ReasonRevoked     Reason = "revoked"
	ReasonSignature   Reason = "signature" // wrong, or by an algorithm that is not accepted
	ReasonKey         Reason = "key"       // the issuer has no key with this id
	ReasonIssuer      Reason = "issuer"    // another one
	ReasonAudience    Reason = "audience"  // another service
	ReasonType        Reason = "type"      // no access token, or bound to a key of its client
	ReasonNotYetValid Reason = "not-yet-valid"
	ReasonSubject     Reason = "subject" // missing or malformed
)

func (r Reason) Error() string { return "token: " + string(r) }

// Is reports that every Reason is ErrInvalid.
func (Reason) Is(target error) bool { return target == ErrInvalid }

// Principal is the client that a valid token denotes.
type Principal struct {
	Subject string
	TokenID string // for logs
}

// Verifier verifies the opaque tokens in a store.
type Verifier struct {
	Store Finder
	Now   func() time.Time
	JWTs  JWTVerifier // verifies the tokens without our prefix; if it is nil, they are invalid
}

// JWTVerifier verifies the JWTs of another issuer, with the errors of [Verifier].
type JWTVerifier interface {
	Verify(ctx context.Context, bearer string) (Principal, error)
}

// Verify returns the principal of bearer, a [Reason] if bearer is not a valid token now, or the error
// of the store, see [Finder]. An expired or revoked token has its principal too, for the log. Verify
// reads the store only for a well-formed token of ours. It checks the expiry itself, because DynamoDB
// may remove an expired item days late.
func (v Verifier) Verify(ctx context.Context, bearer string) (Principal, error) {
	if v.JWTs != nil && !strings.HasPrefix(bearer, prefix) {
		return v.JWTs.Verify(ctx, bearer)
	}
	id, ok := ID(bearer)
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
	sameDigest := subtle.ConstantTimeCompare([]byte(t.Digest), []byte(Digest(bearer))) == 1
	p := Principal{Subject: t.Subject, TokenID: t.ID}
	switch {
	case t.ID != id || !sameDigest:
		return Principal{}, ReasonUnknown
	case t.Revoked:
		return p, ReasonRevoked
	case t.Expired(v.Now()):
		return p, ReasonExpired
	}
	return p, nil
}

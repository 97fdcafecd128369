// Package token is the domain of authentication: the form of a bearer token, how one is issued, when
// one is valid, and what a store of tokens must promise.
//
// A token is opaque: `pst_`, 30 random characters and a checksum of six characters. Secret scanners
// recognise a leaked token by this form, and a mistyped one is rejected without reading the store.
// The store holds only the SHA-256 of a token, so reading the store does not give access. A token has
// more than 160 random bits, so a slower hash would add nothing.
package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
	"time"
)

const (
	prefix         = "pst_"
	randomLength   = 30 // characters, of log2(62) = 5.95 bits each
	checksumLength = 6  // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idLength       = 12 // characters: 71 bits, so ids do not collide
)

// ErrInvalid means that a token does not open the service. A client must not learn why.
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// A Reason is the error for an invalid token, in one word for the log. Every Reason is [ErrInvalid].
type Reason string

// The reasons for which a token is invalid. Those from ReasonSignature on are for JWTs.
const (
	ReasonMalformed   Reason = "malformed"
	ReasonUnknown     Reason = "unknown"
	ReasonExpired     Reason = "expired"
	ReasonRevoked     Reason = "revoked"
	ReasonSignature   Reason = "signature" // wrong, or by an algorithm that is not accepted
	ReasonKey         Reason = "key"       // the issuer has no key with this id
	ReasonIssuer      Reason = "issuer"    // another one
	ReasonAudience    Reason = "audience"  // another service
	ReasonType        Reason = "type"      // no access token
	ReasonNotYetValid Reason = "not-yet-valid"
	ReasonSubject     Reason = "subject" // missing or malformed
)

func (r Reason) Error() string { return "token: " + string(r) }

// Is reports that every Reason is ErrInvalid.
func (Reason) Is(target error) bool { return target == ErrInvalid }

// Token describes a token without the secret itself.
type Token struct {
	Digest    string    // identifies the secret; see [Digest]
	ID        string    // names the token to operators and in logs, and gives no access
	Subject   string    // the client that the token was issued to: 1 to 128 visible ASCII characters
	CreatedAt time.Time // in UTC, in whole seconds
	ExpiresAt time.Time // in UTC, in whole seconds
	Revoked   bool      // for good
}

// Expired reports whether the token is expired at now. It is from ExpiresAt on.
func (t Token) Expired(now time.Time) bool { return !now.Before(t.ExpiresAt) }

// Issue makes a token for subject that expires at now plus ttl, rounded up to a whole second. It
// returns the secret, which must not be stored, and the Token to store. It returns an error if subject
// is not 1 to 128 visible ASCII characters, ttl is under a second, or random has too few bytes.
func Issue(random io.Reader, subject string, now time.Time, ttl time.Duration) (secret string, t Token, err error) {
	if !VisibleASCII(subject, 128) {
		return "", Token{}, errors.New("subject must have 1 to 128 visible ASCII characters")
	}
	if ttl < time.Second {
		return "", Token{}, errors.New("time to live must be at least one second")
	}
	characters, err := randomCharacters(random, randomLength+idLength)
	if err != nil {
		return "", Token{}, fmt.Errorf("no randomness for a token: %w", err)
	}
	body := prefix + characters[:randomLength]
	secret = body + checksum(body)
	return secret, Token{
		Digest:    Digest(secret),
		ID:        characters[randomLength:],
		Subject:   subject,
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Add(ttl + time.Second - 1).Truncate(time.Second),
	}, nil
}

// Digest returns the SHA-256 of the whole secret in lower-case hexadecimal.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// WellFormed reports whether secret has the form of an issued token.
func WellFormed(secret string) bool {
	const length = len(prefix) + randomLength + checksumLength
	if len(secret) != length || !strings.HasPrefix(secret, prefix) {
		return false
	}
	body := secret[:length-checksumLength]
	return checksum(body) == secret[len(body):] && strings.Trim(body[len(prefix):], alphabet) == ""
}

// checksum returns the CRC-32 (IEEE) of body as six digits in base 62.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var digits [checksumLength]byte
	for i := range digits {
		digits[checksumLength-1-i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits[:])
}

// randomCharacters returns n characters of the alphabet, all equally likely.
func randomCharacters(random io.Reader, n int) (string, error) {
	characters := make([]byte, n)
	for i := range characters {
		index, err := rand.Int(random, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", err
		}
		characters[i] = alphabet[index.Int64()]
	}
	return string(characters), nil
}

// VisibleASCII reports whether text is 1 to longest visible ASCII characters.
func VisibleASCII(text string, longest int) bool {
	return len(text) >= 1 && len(text) <= longest &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Principal is the client that a valid token denotes.
type Principal struct {
	Subject string
	TokenID string // for logs
}

// Verifier verifies the opaque tokens in a store.
type Verifier struct {
	Store  Finder
	Now    func() time.Time
	Issuer Issuer // of the tokens without our prefix, which are invalid if it is nil
}

// Issuer verifies the tokens of another issuer, with the errors of [Verifier].
type Issuer interface {
	Verify(ctx context.Context, secret string) (Principal, error)
}

// Verify returns the principal of secret, [ErrInvalid] if secret is not a valid token now, or the error
// of the store, see [Finder]. It does the same work for every well-formed secret of ours, valid or
// not. It checks the expiry itself, because DynamoDB may remove an expired item days late.
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

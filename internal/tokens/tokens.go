// Package tokens is about bearer tokens: how they are issued, kept and verified. Only their digests are kept, so whoever
// reads the table can use none of them.
package tokens

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A token has 130 random bits, so a slow hash would not make it harder to guess.
var (
	tokenFormat   = regexp.MustCompile(`^pst_[A-Z2-7]{26}$`)
	digestFormat  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	subjectFormat = regexp.MustCompile(`^[!-~]{1,128}$`)
)

// Token is what the service knows about a token. Other programs may read these attributes of the table's items.
type Token struct {
	Digest    string    `dynamodbav:"digest"` // of the whole token; the key
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, in UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the attribute by which DynamoDB deletes expired items
}

// Issue returns a new token for subject, which expires after the given number of days, and what to store of it.
func Issue(subject string, days int) (bearer string, t Token, err error) {
	if !subjectFormat.MatchString(subject) {
		return "", Token{}, errors.New("the subject must have 1 to 128 visible ASCII characters")
	}
	if days < 1 || days > 3650 {
		return "", Token{}, errors.New("a token lives for 1 to 3650 days")
	}
	now := time.Now().UTC().Truncate(time.Second)
	bearer = "pst_" + rand.Text()[:26] // a later version of Go may return a longer text
	return bearer, Token{Digest: Digest(bearer), Subject: subject, CreatedAt: now, ExpiresAt: now.AddDate(0, 0, days)}, nil
}

// Digest returns the SHA-256 of a text in hexadecimal.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// IsToken reports whether text looks like a token.
func IsToken(text string) bool { return tokenFormat.MatchString(text) }

// IsDigest reports whether text looks like the digest of a token.
func IsDigest(text string) bool { return digestFormat.MatchString(text) }

// Store finds tokens.
type Store interface {
	// Find returns the token with this digest, or an error that wraps [ErrInvalid] if there is none.
	Find(ctx context.Context, digest string) (Token, error)
}

// ErrInvalid is wrapped by the errors that say why an Authorization header has no valid token.
var ErrInvalid = errors.New("no valid token")

// Verify returns the subject of the token in an Authorization header.
func Verify(ctx context.Context, store Store, authorization string) (subject string, err error) {
	scheme, bearer, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", fmt.Errorf("%w: there is no bearer token", ErrInvalid)
	}
	if bearer = strings.Trim(bearer, " "); !IsToken(bearer) {
		return "", fmt.Errorf("%w: it does not look like one", ErrInvalid)
	}
	t, err := store.Find(ctx, Digest(bearer))
	if err != nil {
		return "", err
	}
	if !time.Now().Before(t.ExpiresAt) { // DynamoDB may take days to delete it
		return t.Subject, fmt.Errorf("%w: it has expired", ErrInvalid)
	}
	return t.Subject, nil
}

// Memory is a [Store] with the tokens by their digests.
type Memory map[string]Token

// Find implements [Store].
func (m Memory) Find(_ context.Context, digest string) (Token, error) {
	t, ok := m[digest]
	if !ok {
		return Token{}, errUnknown
	}
	return t, nil
}

var errUnknown = fmt.Errorf("%w: it is unknown or revoked", ErrInvalid)

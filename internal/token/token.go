// Package token is the domain of authentication: the form of a bearer token, when one is valid, what a
// store of tokens must promise, and, in issue.go, how a token is issued.
//
// A token is opaque: `pst_`, an id of 12 random characters, a secret of 24 and a checksum of six.
// Secret scanners recognise a leaked token by this form, and a mistyped one is rejected without
// reading the store. The id names the token in the store, in logs and to operators, and gives no
// access. The store does not hold the secret, only the SHA-256 of the whole token, so reading the store
// gives no access. A secret has more than 140 random bits, so a slower hash would add nothing.
package token

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"time"
)

const (
	prefix         = "pst_"
	idLength       = 12 // characters, 71 random bits: two ids are practically never equal, and Add refuses an equal one
	secretLength   = 24
	checksumLength = 6 // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Token describes a bearer token without its secret.
type Token struct {
	ID        string    // the token's id, which is part of it
	Digest    string    // of the whole token: see [Digest]
	Subject   string    // the client that the token was issued to: 1 to 128 visible ASCII characters
	CreatedAt time.Time // in UTC, in whole seconds
	ExpiresAt time.Time // in UTC, in whole seconds
	Revoked   bool      // for good
}

// Expired reports whether the token is expired at now. A token is expired at ExpiresAt and after it.
func (t Token) Expired(now time.Time) bool { return !now.Before(t.ExpiresAt) }

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

// ParseID returns the id in a bearer token. ok is false if bearer does not have the form of an issued token.
func ParseID(bearer string) (id string, ok bool) {
	const length = len(prefix) + idLength + secretLength + checksumLength
	if len(bearer) != length {
		return "", false
	}
	body := bearer[:length-checksumLength]
	characters, ok := strings.CutPrefix(body, prefix)
	if !ok || checksum(body) != bearer[len(body):] || !ConsistsOf(characters, alphabet) {
		return "", false
	}
	return characters[:idLength], true
}

// Digest returns the SHA-256 of credentials, such as a whole bearer token, in lower-case hexadecimal.
func Digest(credentials string) string {
	sum := sha256.Sum256([]byte(credentials))
	return hex.EncodeToString(sum[:])
}

// ConsistsOf reports whether text has only characters of set.
func ConsistsOf(text, set string) bool { return strings.Trim(text, set) == "" }

// IsVisibleASCII reports whether text is 1 to maxLength visible ASCII characters, as a subject and an idempotency
// key must be.
func IsVisibleASCII(text string, maxLength int) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) >= 1 && len(text) <= maxLength && !strings.ContainsFunc(text, invisible)
}

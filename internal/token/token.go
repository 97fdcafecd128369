// Package token is the authentication domain: bearer tokens, their verification, and the contract of a token store.
//
// A token is `pst_`, an id of 12 random characters, a secret of 24 and a checksum of 6. Secret scanners can recognize it,
// and a mistyped token is rejected without a lookup. The id alone gives no access, so it may be logged. The store has
// only the SHA-256 of the token. The secret has more than 140 random bits, so a slower hash would add nothing.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/big"
	"strings"
	"time"
)

const (
	prefix         = "pst_"
	idLength       = 12 // characters, 71 random bits
	secretLength   = 24
	checksumLength = 6 // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Token is what the store knows about a bearer token: everything except the secret.
type Token struct {
	ID        string
	Digest    string    // of the whole token
	Subject   string    // the client: 1 to 128 visible ASCII characters
	CreatedAt time.Time // this and ExpiresAt are in UTC, in whole seconds
	ExpiresAt time.Time
	Revoked   bool
}

// Expired reports whether now is at or after t.ExpiresAt.
func (t Token) Expired(now time.Time) bool { return !now.Before(t.ExpiresAt) }

// Issue returns a new bearer token, which must not be stored, and the Token to store, which expires at now plus ttl,
// rounded up to a whole second. Issue returns an error if subject is malformed.
func Issue(subject string, now time.Time, ttl time.Duration) (bearer string, t Token, err error) {
	if !IsVisibleASCII(subject, 128) {
		return "", Token{}, errors.New("subject must have 1 to 128 visible ASCII characters")
	}
	id := randomCharacters(idLength)
	body := prefix + id + randomCharacters(secretLength)
	bearer = body + checksum(body)
	return bearer, Token{
		ID:        id,
		Digest:    Digest(bearer),
		Subject:   subject,
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Add(ttl).Add(time.Second - 1).Truncate(time.Second),
	}, nil
}

func randomCharacters(n int) string {
	characters := make([]byte, n)
	for i := range characters {
		index, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // the system's randomness never fails
		characters[i] = alphabet[index.Int64()]
	}
	return string(characters)
}

// checksum returns the CRC-32 (IEEE) of body in base 62.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var digits [checksumLength]byte
	for i := range digits {
		digits[checksumLength-1-i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits[:])
}

// ParseID returns the id in a well-formed bearer token.
func ParseID(bearer string) (id string, ok bool) {
	const length = len(prefix) + idLength + secretLength + checksumLength
	if len(bearer) != length {
		return "", false
	}
	body := bearer[:length-checksumLength]
	characters, ok := strings.CutPrefix(body, prefix)
	if !ok || strings.Trim(characters, alphabet) != "" || checksum(body) != bearer[len(body):] {
		return "", false
	}
	return characters[:idLength], true
}

// Digest returns the hexadecimal SHA-256 of credentials.
func Digest(credentials string) string {
	sum := sha256.Sum256([]byte(credentials))
	return hex.EncodeToString(sum[:])
}

// IsVisibleASCII reports whether text consists of 1 to maxLength visible ASCII characters.
func IsVisibleASCII(text string, maxLength int) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) >= 1 && len(text) <= maxLength && !strings.ContainsFunc(text, invisible)
}

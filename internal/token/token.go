// Package token is the domain of authentication: the form of a bearer token, how one is issued, when
// one is valid, and what a store of tokens must promise.
//
// A token is opaque: `pst_`, an id of 12 random characters, a secret of 24 and a checksum of six.
// Secret scanners recognise a leaked token by this form, and a mistyped one is rejected without
// reading the store. The id names the token in the store, in logs and to operators, and gives no
// access. Of the secret the store holds only the SHA-256 of the whole token, so reading the store does
// not give access. A secret has more than 140 random bits, so a slower hash would add nothing.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
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

// Issue makes a token for subject that expires at now plus ttl, rounded up to a whole second. It
// returns the bearer token, which must not be stored, and the Token to store. It returns an error if
// subject is not 1 to 128 visible ASCII characters, or ttl is under a second.
func Issue(subject string, now time.Time, ttl time.Duration) (bearer string, t Token, err error) {
	if !IsVisibleASCII(subject, 128) {
		return "", Token{}, errors.New("subject must have 1 to 128 visible ASCII characters")
	}
	if ttl < time.Second {
		return "", Token{}, errors.New("time to live must be at least one second")
	}
	id := randomCharacters(idLength)
	bearer = Bearer(id, randomCharacters(secretLength))
	return bearer, Token{
		ID:        id,
		Digest:    Digest(bearer),
		Subject:   subject,
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Add(ttl + time.Second - 1).Truncate(time.Second),
	}, nil
}

// randomCharacters returns n characters of the alphabet, all equally likely.
func randomCharacters(n int) string {
	characters := make([]byte, n)
	for i := range characters {
		index, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // the system's randomness never fails
		characters[i] = alphabet[index.Int64()]
	}
	return string(characters)
}

// Bearer returns the bearer token with this id and this secret. [Issue] chooses random ones. Samples and tests
// choose others.
func Bearer(id, secret string) string {
	body := prefix + id + secret
	return body + checksum(body)
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

// ContainsToken reports whether text contains a token, or the beginning of one: the prefix and an id. The prefix
// must start a word, because a short one, such as s_, also occurs within names. The command plantstore refuses
// arguments that contain a token.
func ContainsToken(text string) bool {
	beginning := fmt.Sprintf(`\b%s[%s]{%d}`, prefix, alphabet, idLength)
	return regexp.MustCompile(beginning).MatchString(text)
}

// Digest returns the SHA-256 of credentials, such as a whole bearer token, in lower-case hexadecimal.
func Digest(credentials string) string {
	sum := sha256.Sum256([]byte(credentials))
	return hex.EncodeToString(sum[:])
}

// ConsistsOf reports whether text has only characters of set.
func ConsistsOf(text, set string) bool { return strings.Trim(text, set) == "" }

// IsVisibleASCII reports whether text is 1 to maxLength visible ASCII characters, as subjects, the ids of
// tokens and idempotency keys are.
func IsVisibleASCII(text string, maxLength int) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) >= 1 && len(text) <= maxLength && !strings.ContainsFunc(text, invisible)
}

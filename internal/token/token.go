// Package token is the domain of authentication: what a bearer token looks
// like, how one is issued, and when one opens the service.
//
// A token is opaque. It is `pst_`, then 30 random characters, then six that are
// a checksum, so that secret scanners recognise a leaked token and a mistyped
// one is refused without a look into the store. The store holds the SHA-256 of
// the token alone: who reads the store can open nothing. With more than 160
// random bits in a token, a slow hash would add nothing.
//
// It imports the standard library alone.
package token

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"
)

const (
	prefix         = "pst_"
	randomLength   = 30 // characters, of log2(62) = 5.95 bits each
	checksumLength = 6  // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idLength       = 12 // characters: 71 bits, so that two ids do not meet

	// maxSubjectLength is the largest length of a subject, in characters.
	maxSubjectLength = 128
)

// ErrInvalid means that a token does not open the service: it is no token of
// ours, it is unknown, it was revoked or it has expired. Which of these it is
// stays untold.
var ErrInvalid = errors.New("token: unknown, revoked or expired")

// Token is what is known of a token, without the secret itself.
type Token struct {
	// Digest identifies the secret. See [Digest].
	Digest string

	// ID names the token to operators and in logs. It opens nothing.
	ID string

	// Subject is whom the token was issued to: 1 to 128 visible ASCII characters.
	Subject string

	// CreatedAt and ExpiresAt are in UTC, in whole seconds.
	CreatedAt, ExpiresAt time.Time

	// Revoked is whether the token was revoked. It then stays invalid.
	Revoked bool
}

// Expired reports whether the token no longer opens the service at now. It does
// so from the very second of ExpiresAt on.
func (t Token) Expired(now time.Time) bool { return !now.Before(t.ExpiresAt) }

// Issue makes a token for subject that expires at now plus ttl, in whole seconds. It returns the
// secret, which is to be handed over and forgotten, and what is to be stored of
// it. It fails where subject is not 1 to 128 visible ASCII characters, ttl is
// under a second, or random has no bytes left.
func Issue(random io.Reader, subject string, now time.Time, ttl time.Duration) (secret string, t Token, err error) {
	if len(subject) < 1 || len(subject) > maxSubjectLength || strings.ContainsFunc(subject, notVisible) {
		return "", Token{}, fmt.Errorf("subject must have 1 to %d visible ASCII characters", maxSubjectLength)
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
		ExpiresAt: now.UTC().Add(ttl + time.Second - 1).Truncate(time.Second), // rounded up
	}, nil
}

// Digest returns the SHA-256 of the whole secret in lower-case hexadecimal: the
// one form in which a store knows it.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// WellFormed reports whether secret has the form of a token of ours: prefix,
// length, alphabet and checksum.
func WellFormed(secret string) bool {
	const length = len(prefix) + randomLength + checksumLength
	if len(secret) != length || !strings.HasPrefix(secret, prefix) {
		return false
	}
	body := secret[:length-checksumLength]
	return checksum(body) == secret[len(body):] &&
		strings.Trim(body[len(prefix):], alphabet) == ""
}

// checksum returns the CRC-32 (IEEE) of body as six digits to the base 62.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var digits [checksumLength]byte
	for i := range digits {
		digits[checksumLength-1-i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits[:])
}

// randomCharacters returns n characters of the alphabet, each as likely as the
// others: a byte beyond the last whole multiple of 62 is drawn again.
func randomCharacters(random io.Reader, n int) (string, error) {
	const limit = 256 - 256%len(alphabet)
	source := bufio.NewReader(random)
	characters := make([]byte, 0, n)
	for len(characters) < n {
		b, err := source.ReadByte()
		if err != nil {
			return "", err
		}
		if int(b) < limit {
			characters = append(characters, alphabet[int(b)%len(alphabet)])
		}
	}
	return string(characters), nil
}

func notVisible(r rune) bool { return r <= ' ' || r > '~' }

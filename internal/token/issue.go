package token

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"time"
)

// Issue makes a token that expires at now plus ttl, rounded up to a whole second. It returns the bearer token, which
// must not be stored, and the Token to store, or an error if subject is malformed or ttl is under a second.
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

func randomCharacters(n int) string {
	characters := make([]byte, n)
	for i := range characters {
		index, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // the system's randomness never fails
		characters[i] = alphabet[index.Int64()]
	}
	return string(characters)
}

// Bearer returns the bearer token with this id and this secret.
func Bearer(id, secret string) string {
	body := prefix + id + secret
	return body + checksum(body)
}

// ContainsToken reports whether text contains a token, or the beginning of one: a word of the prefix and an id.
func ContainsToken(text string) bool {
	beginning := fmt.Sprintf(`\b%s[%s]{%d}`, prefix, alphabet, idLength)
	return regexp.MustCompile(beginning).MatchString(text)
}

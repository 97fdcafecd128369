// Package token is the authentication domain: bearer tokens, their verification, and the contract of a token store.
//
// A token is `pst_`, an id of 12 random characters, a secret of 26, and a checksum. Secret scanners can recognize it, and
// a mistyped token is rejected without a lookup. The id alone gives no access, so it may be logged. The store has only the
// SHA-256 of the token. The secret has 130 random bits, so a slower hash would add nothing.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"time"
)

const prefix = "pst_"

var (
	// format has groups for the random characters, the id that they begin with, and their checksum.
	format = regexp.MustCompile(prefix + `(([A-Z2-7]{12})[A-Z2-7]{26})([0-9a-f]{8})`)

	idFormat      = regexp.MustCompile(`^[A-Z2-7]{12}$`)
	subjectFormat = regexp.MustCompile(`^[!-~]+$`)
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
	if len(subject) > 128 || !subjectFormat.MatchString(subject) {
		return "", Token{}, errors.New("subject must have 1 to 128 visible ASCII characters")
	}
	id, secret := rand.Text()[:12], rand.Text()[:26] // a later version of Go may return longer texts
	bearer = prefix + id + secret + checksum(id+secret)
	return bearer, Token{
		ID:        id,
		Digest:    Digest(bearer),
		Subject:   subject,
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Add(ttl).Add(time.Second - 1).Truncate(time.Second),
	}, nil
}

// checksum returns the CRC-32 (IEEE) of characters in hexadecimal.
func checksum(characters string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(characters)))
}

// ParseID returns the id in a well-formed bearer token.
func ParseID(bearer string) (id string, ok bool) {
	groups := format.FindStringSubmatch(bearer)
	if groups == nil || groups[0] != bearer || checksum(groups[1]) != groups[3] {
		return "", false
	}
	return groups[2], true
}

// IsID reports whether text has the form of a token's id.
func IsID(text string) bool { return idFormat.MatchString(text) }

// FindIDs returns the ids of the well-formed bearer tokens in text, such as a log, each once.
func FindIDs(text string) []string {
	var ids []string
	for _, groups := range format.FindAllStringSubmatch(text, -1) {
		id := groups[2]
		if checksum(groups[1]) == groups[3] && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Digest returns the hexadecimal SHA-256 of credentials.
func Digest(credentials string) string {
	sum := sha256.Sum256([]byte(credentials))
	return hex.EncodeToString(sum[:])
}

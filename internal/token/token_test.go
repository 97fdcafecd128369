package token_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"plantstore/internal/token"
)

const prefix = "pst_"

// noon is when tokens are issued in the tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// issue returns a new token of alice that is valid for an hour from noon.
func issue(t *testing.T) (bearer string, issued token.Token) {
	t.Helper()
	bearer, issued, err := token.Issue(rand.Reader, "alice", noon, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return bearer, issued
}

// sealed returns body with its checksum: its CRC-32 in base 62, in which math/big has the letters in the
// other order.
func sealed(body string) string {
	otherCase := func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}
	sum := big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))).Text(62)
	return body + strings.Repeat("0", 6-len(sum)) + strings.Map(otherCase, sum)
}

// A token has its form and its checksum. Its description has its id and its digest, but not its secret.
func TestIssue(t *testing.T) {
	form := regexp.MustCompile(`^` + prefix + `([0-9A-Za-z]{12})[0-9A-Za-z]{24}[0-9A-Za-z]{6}$`)
	for range 100 { // some of the checksums begin with 0
		bearer, got := issue(t)
		match := form.FindStringSubmatch(bearer)
		if match == nil {
			t.Fatalf("Issue = %q, want the form %v", bearer, form)
		}
		if body := bearer[:len(bearer)-6]; bearer != sealed(body) {
			t.Errorf("Issue = %q, want the checksum of %q", bearer, sealed(body))
		}
		want := token.Token{
			ID:        match[1],
			Digest:    fmt.Sprintf("%x", sha256.Sum256([]byte(bearer))),
			Subject:   "alice",
			CreatedAt: noon,
			ExpiresAt: noon.Add(time.Hour),
		}
		if got != want {
			t.Errorf("Issue describes %q as %+v, want %+v", bearer, got, want)
		}
	}
}

// No two tokens have the same id or secret, and each place of a token may hold each character.
func TestIssueIsRandom(t *testing.T) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	seen := map[string]bool{}
	var byPlace [36]string // the characters of all tokens
	// With 2,000 tokens, the probability that one of the 62 characters is missing in one of the places
	// is below 1 in 10^10.
	for range 2_000 {
		bearer, issued := issue(t)
		secret := bearer[len(prefix)+12 : len(prefix)+36]
		if seen[issued.ID] || seen[secret] {
			t.Fatalf("Issue = %q, whose id or secret another token has", bearer)
		}
		seen[issued.ID] = true
		seen[secret] = true
		for place := range byPlace {
			byPlace[place] += bearer[len(prefix)+place : len(prefix)+place+1]
		}
	}
	for place, found := range byPlace {
		for _, character := range alphabet {
			if !strings.ContainsRune(found, character) {
				t.Errorf("character %d of 2,000 tokens is never %c", place, character)
			}
		}
	}
}

// A part of a second lengthens the life of a token, which is at least a second.
func TestIssueRoundsTimes(t *testing.T) {
	now := noon.Add(time.Second - 1).In(time.FixedZone("CET", 3600))
	_, got, err := token.Issue(rand.Reader, "alice", now, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if want := noon.Add(2 * time.Second); got.CreatedAt != noon || got.ExpiresAt != want {
		t.Errorf("Issue at %v for a second = from %v to %v, want from %v to %v", now, got.CreatedAt, got.ExpiresAt, noon, want)
	}
}

func TestIssueChecksItsArguments(t *testing.T) {
	tests := []struct {
		name    string
		subject string
		ttl     time.Duration
		valid   bool
	}{
		{name: "the shortest subject", subject: "!", ttl: time.Hour, valid: true},
		{name: "the longest subject", subject: strings.Repeat("~", 128), ttl: time.Hour, valid: true},
		{name: "a subject too long", subject: strings.Repeat("~", 129), ttl: time.Hour},
		{name: "no subject", subject: "", ttl: time.Hour},
		{name: "a space in the subject", subject: "a b", ttl: time.Hour},
		{name: "a subject beyond visible ASCII", subject: "a\x7f", ttl: time.Hour},
		{name: "a life under a second", subject: "alice", ttl: time.Second - 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := token.Issue(rand.Reader, test.subject, noon, test.ttl)
			if valid := err == nil; valid != test.valid {
				t.Errorf("Issue(%q, %v) = %v, want valid: %t", test.subject, test.ttl, err, test.valid)
			}
		})
	}
}

func TestIssueWithoutRandomness(t *testing.T) {
	bearer, got, err := token.Issue(strings.NewReader("too short"), "alice", noon, time.Hour)
	if err == nil {
		t.Errorf("Issue with 9 random bytes = %q, %+v, want an error", bearer, got)
	}
}

// characters are 36 that an issued token may have.
const characters = "0zAZ9aBbCcDd" + "mnopqrstuvwxyzMNOPQRSTUV"

func TestID(t *testing.T) {
	valid := sealed(prefix + characters)
	tests := []struct {
		name   string
		bearer string
		want   string // empty if the token is malformed
	}{
		{name: "a token", bearer: valid, want: "0zAZ9aBbCcDd"},
		{name: "another character of the id", bearer: strings.Replace(valid, "A", "B", 1)},
		{name: "another character of the secret", bearer: strings.Replace(valid, "m", "n", 1)},
		{name: "another checksum", bearer: valid[:len(valid)-1] + "_"},

		{name: "another prefix, with its checksum", bearer: sealed(strings.ToUpper(prefix) + characters)},
		{name: "a longer token, with its checksum", bearer: sealed(prefix + characters + "0")},
		{name: "a shorter token, with its checksum", bearer: sealed(prefix + characters[1:])},
		{name: "a hyphen in the id, with its checksum", bearer: sealed(prefix + "0-" + characters[2:])},
		{name: "a hyphen at the end, with its checksum", bearer: sealed(prefix + characters[:35] + "-")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := token.ID(test.bearer)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("ID(%q) = %q, %t, want %q", test.bearer, got, ok, test.want)
			}
		})
	}
}

package token

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
)

// noon is when tokens are issued in the tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Six random bits are one character of a token, and the two numbers too many are none, so all characters
// are equally likely. The description of a token has its id and its digest, but not its secret. A part of
// a second lengthens its life.
func TestIssue(t *testing.T) {
	numbers := make([]byte, 80)
	for i := range numbers {
		numbers[i] = byte(i)
	}
	random := bytes.NewReader(numbers)
	now := noon.Add(time.Second - 1).In(time.FixedZone("CET", 3600))
	for _, characters := range []string{
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		"abcdefghijklmnopqrstuvwxyz0123456789",
	} {
		bearer, got, err := Issue(random, "alice", now, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if bearer != Seal(characters) {
			t.Errorf("Issue = %q, want %q", bearer, Seal(characters))
		}
		want := Token{
			ID:        characters[:12],
			Digest:    fmt.Sprintf("%x", sha256.Sum256([]byte(bearer))),
			Subject:   "alice",
			CreatedAt: noon,
			ExpiresAt: noon.Add(2 * time.Second),
		}
		if got != want {
			t.Errorf("Issue describes %q as %+v, want %+v", bearer, got, want)
		}
	}
	if bearer, got, err := Issue(random, "alice", now, time.Second); err == nil {
		t.Errorf("Issue with six random bytes = %q, %+v, want an error", bearer, got)
	}
}

// A checksum is a CRC-32, in base 62 with six digits: here 0xCBF43926 and 0x1AD5BE0D.
func TestChecksum(t *testing.T) {
	for text, want := range map[string]string{"123456789": "3jZRME", "2": "0UT3bJ"} {
		if got := checksum(text); got != want {
			t.Errorf("checksum(%q) = %s, want %s", text, got, want)
		}
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
			_, _, err := Issue(rand.Reader, test.subject, noon, test.ttl)
			if valid := err == nil; valid != test.valid {
				t.Errorf("Issue(%q, %v) = %v, want valid: %t", test.subject, test.ttl, err, test.valid)
			}
		})
	}
}

// characters are 36 that an issued token may have.
const characters = "0zAZ9aBbCcDd" + "mnopqrstuvwxyzMNOPQRSTUV"

func TestID(t *testing.T) {
	valid := Seal(characters)
	otherPrefix := strings.ToUpper(prefix) + characters
	tests := []struct {
		name   string
		bearer string
		want   string // empty if the token is malformed
	}{
		{name: "a token", bearer: valid, want: "0zAZ9aBbCcDd"},
		{name: "another character of the id", bearer: strings.Replace(valid, "A", "B", 1)},
		{name: "another character of the secret", bearer: strings.Replace(valid, "m", "n", 1)},
		{name: "another checksum", bearer: valid[:len(valid)-1] + "_"},

		{name: "another prefix, with its checksum", bearer: otherPrefix + checksum(otherPrefix)},
		{name: "a longer token, with its checksum", bearer: Seal(characters + "0")},
		{name: "a shorter token, with its checksum", bearer: Seal(characters[1:])},
		{name: "a hyphen in the id, with its checksum", bearer: Seal("0-" + characters[2:])},
		{name: "a hyphen at the end, with its checksum", bearer: Seal(characters[:35] + "-")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := ID(test.bearer)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("ID(%q) = %q, %t, want %q", test.bearer, got, ok, test.want)
			}
		})
	}
}

package token

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestIssue(t *testing.T) {
	now := noon.Add(time.Second - 1).In(time.FixedZone("CET", 3600))
	bearer, got, err := Issue("alice", now, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	id, ok := ParseID(bearer)
	if !ok {
		t.Fatalf("Issue = %q, want a well-formed token", bearer)
	}
	want := Token{
		ID:        id,
		Digest:    fmt.Sprintf("%x", sha256.Sum256([]byte(bearer))),
		Subject:   "alice",
		CreatedAt: noon,
		ExpiresAt: noon.Add(2 * time.Second),
	}
	if got != want {
		t.Errorf("Issue describes %q as %+v, want %+v", bearer, got, want)
	}
}

// No two tokens have the same id or secret, and every character of the alphabet occurs. A random failure is less likely
// than 1 in 10^48.
func TestIssueIsRandom(t *testing.T) {
	const tokens = 200
	parts := map[string]bool{} // the ids and the secrets
	var issued string
	for range tokens {
		bearer, _, err := Issue("alice", noon, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		characters := strings.TrimPrefix(bearer, prefix)[:36]
		parts[characters[:12]] = true
		parts[characters[12:]] = true
		issued += characters
	}
	if len(parts) != 2*tokens {
		t.Errorf("%d tokens have %d different ids and secrets, want %d", tokens, len(parts), 2*tokens)
	}
	for _, character := range alphabet {
		if !strings.ContainsRune(issued, character) {
			t.Errorf("no token has the character %c", character)
		}
	}
}

// The CRC-32s of these texts are 0xCBF43926 and 0x1AD5BE0D.
func TestChecksum(t *testing.T) {
	for text, want := range map[string]string{"123456789": "3jZRME", "2": "0UT3bJ"} {
		if got := checksum(text); got != want {
			t.Errorf("checksum(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	tests := []struct {
		name    string
		subject string
		valid   bool
	}{
		{name: "the shortest subject", subject: "!", valid: true},
		{name: "the longest subject", subject: strings.Repeat("~", 128), valid: true},
		{name: "a subject that is too long", subject: strings.Repeat("~", 129)},
		{name: "no subject", subject: ""},
		{name: "a space in the subject", subject: "a b"},
		{name: "a subject beyond visible ASCII", subject: "a\x7f"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := Issue(test.subject, noon, time.Hour)
			if valid := err == nil; valid != test.valid {
				t.Errorf("Issue(%q) = %v, want valid: %t", test.subject, err, test.valid)
			}
		})
	}
}

func TestParseID(t *testing.T) {
	const valid = "pst_0zAZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTUV"
	withChecksum := func(body string) string { return body + checksum(body) }
	tests := []struct {
		name   string
		bearer string
		want   string // empty if the token is malformed
	}{
		{name: "a token", bearer: "pst_0zAZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTUV2imeTa", want: "0zAZ9aBbCcDd"},
		{name: "another character in the id", bearer: "pst_0zBZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTUV2imeTa"},
		{name: "another character in the secret", bearer: "pst_0zAZ9aBbCcDdnnopqrstuvwxyzMNOPQRSTUV2imeTa"},
		{name: "another checksum", bearer: "pst_0zAZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTUV2imeT_"},

		{name: "another prefix", bearer: withChecksum("PST" + valid[3:])},
		{name: "a longer token", bearer: withChecksum(valid + "0")},
		{name: "a shorter token", bearer: withChecksum(valid[:39])},
		{name: "a hyphen in the id", bearer: withChecksum("pst_0-AZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTUV")},
		{name: "a hyphen at the end", bearer: withChecksum("pst_0zAZ9aBbCcDdmnopqrstuvwxyzMNOPQRSTU-")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := ParseID(test.bearer)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("ParseID(%q) = %q, %t, want %q", test.bearer, got, ok, test.want)
			}
		})
	}
}

package token

import (
	"crypto/sha256"
	"fmt"
	"slices"
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

// No two tokens have the same id, or the same half of a secret, and nothing in a token repeats.
func TestIssueIsRandom(t *testing.T) {
	const tokens = 200
	parts := map[string]bool{} // 12 characters each
	for range tokens {
		bearer, _, err := Issue("alice", noon, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		characters := strings.TrimPrefix(bearer, prefix)
		parts[characters[:12]] = true
		parts[characters[12:24]] = true
		parts[characters[25:37]] = true
	}
	if len(parts) != 3*tokens {
		t.Errorf("%d tokens have %d different ids and halves of secrets, want %d", tokens, len(parts), 3*tokens)
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

// CRC-32 has the check value cbf43926. A checksum keeps its leading zeros.
func TestChecksum(t *testing.T) {
	for characters, want := range map[string]string{"123456789": "cbf43926", "TF": "00b16e0a"} {
		if got := checksum(characters); got != want {
			t.Errorf("checksum(%q) = %s, want %s", characters, got, want)
		}
	}
}

func TestParseID(t *testing.T) {
	const valid = "pst_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEF37a907da"
	withChecksum := func(characters string) string { return prefix + characters + checksum(characters) }
	tests := []struct {
		name   string
		bearer string
		want   string // empty if the token is malformed
	}{
		{name: "a token", bearer: valid, want: "ABCDEFGHIJKL"},
		{name: "another character in the id", bearer: "pst_ABCDEFGHIJKKMNOPQRSTUVWXYZ234567ABCDEF37a907da"},
		{name: "another character in the secret", bearer: "pst_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEE37a907da"},
		{name: "another checksum", bearer: "pst_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEF37a907db"},
		{name: "another prefix", bearer: "PST_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEF37a907da"},
		{name: "text before the token", bearer: " " + valid},
		{name: "text after the token", bearer: valid + "\n"},
		{name: "two tokens", bearer: valid + valid},
		{name: "a longer token", bearer: withChecksum("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFG")},
		{name: "a shorter token", bearer: withChecksum("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDE")},
		{name: "a lower-case letter in the id", bearer: withChecksum("ABCDEFGHIJKlMNOPQRSTUVWXYZ234567ABCDEF")},
		{name: "a hyphen in the secret", bearer: withChecksum("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDE-")},
		{name: "an upper-case checksum", bearer: "pst_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEF37A907DA"},
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

func TestFindIDs(t *testing.T) {
	const valid, id = "pst_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEF37a907da", "ABCDEFGHIJKL"
	const other = "pst_NOBODYISSUEDTHISTOKENTOANYONE2222222223f73ff65"
	tests := []struct {
		name, text string
		want       []string
	}{
		{name: "a header", text: `"Authorization: Bearer ` + valid + `"`, want: []string{id}},
		{name: "a line of a log", text: `{"url":"/plants?token=` + valid + `\n"}`, want: []string{id}},
		{name: "a token twice, and another one", text: valid + "," + valid + "," + other, want: []string{id, "NOBODYISSUED"}},
		{name: "a mistyped token", text: valid[:49] + "b"},
		{name: "a token after a mistyped one", text: valid[:49] + "b," + valid, want: []string{id}},
		{name: "part of a token", text: valid[:49]},
		{name: "no token", text: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := FindIDs(test.text); !slices.Equal(got, test.want) {
				t.Errorf("FindIDs(%s) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestIsID(t *testing.T) {
	for text, want := range map[string]bool{
		"ABCDEFGHI234": true, "ABCDEFGHI23": false, "ABCDEFGHI2345": false, "ABCDEFGHI23\n": false, "abcdefghi234": false,
	} {
		if got := IsID(text); got != want {
			t.Errorf("IsID(%q) = %t, want %t", text, got, want)
		}
	}
}

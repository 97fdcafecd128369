package token_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/token"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 999, time.UTC)

func TestIssue(t *testing.T) {
	// 248 and more are drawn again; 0 to 247 are the alphabet four times over.
	random := strings.NewReader("\xff\xf8" + strings.Repeat("\x00\x01\x3e\x7b\xf7", 9))
	secret, got, err := token.Issue(random, "gardener", now, 90*time.Minute)
	body := "pst_" + strings.Repeat("010zz", 6)
	want := token.Token{
		Digest:    token.Digest(secret),
		ID:        "010zz010zz01",
		Subject:   "gardener",
		CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		ExpiresAt: time.Date(2026, 3, 1, 13, 30, 1, 0, time.UTC),
	}
	if err != nil || got != want || secret != body+base62(crc32.ChecksumIEEE([]byte(body))) {
		t.Errorf("Issue = %q, %+v, %v, want %+v", secret, got, err, want)
	}
}

func TestIssueRefuses(t *testing.T) {
	tests := []struct {
		name    string
		subject string
		ttl     time.Duration
		random  string
	}{
		{"no subject", "", time.Hour, plenty},
		{"a subject too long", strings.Repeat("s", 129), time.Hour, plenty},
		{"a space in the subject", "a b", time.Hour, plenty},
		{"a control character in the subject", "a\x7f", time.Hour, plenty},
		{"a subject beyond ASCII", "ä", time.Hour, plenty},
		{"no time to live", "s", 0, plenty},
		{"a negative time to live", "s", -time.Hour, plenty},
		{"less than a second to live", "s", time.Second - 1, plenty},
		{"too little randomness", "s", time.Hour, plenty[:41]},
	}
	for _, test := range tests {
		if secret, _, err := token.Issue(strings.NewReader(test.random), test.subject, now, test.ttl); err == nil || secret != "" {
			t.Errorf("%s: Issue = %q, %v, want an error", test.name, secret, err)
		}
	}
	if _, _, err := token.Issue(strings.NewReader(plenty[:42]), strings.Repeat("~", 128), now, time.Second); err != nil {
		t.Errorf("Issue at the limits = %v, want nil", err)
	}
}

var plenty = strings.Repeat("\x01", 100)

func TestWellFormed(t *testing.T) {
	secret, _, err := token.Issue(rand.Reader, "gardener", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// A well-formed token made by hand, of which rows below vary one thing.
	body := "pst_" + strings.Repeat("0", 30)
	tests := []struct {
		name   string
		secret string
		want   bool
	}{
		{"an issued token", secret, true},
		{"the right checksum", body + base62(crc32.ChecksumIEEE([]byte(body))), true},
		{"nothing", "", false},
		{"the prefix alone", "pst_", false},
		{"another prefix", "pat_" + secret[4:], false},
		{"the prefix in another case", "PST_" + secret[4:], false},
		{"one character less", secret[:39], false},
		{"one character more", secret + "0", false},
		{"one character changed", flip(secret, 10), false},
		{"one character of the checksum changed", flip(secret, 39), false},
		{"the right checksum on a character outside the alphabet", checksummed("pst_-" + strings.Repeat("0", 29)), false},
		{"the right checksum on another prefix", checksummed("pat_" + strings.Repeat("0", 30)), false},
		{"the right checksum on another length", checksummed("pst_" + strings.Repeat("0", 31)), false},
	}
	for _, test := range tests {
		if got := token.WellFormed(test.secret); got != test.want {
			t.Errorf("%s: WellFormed(%q) = %t, want %t", test.name, test.secret, got, test.want)
		}
	}
}

func TestVerify(t *testing.T) {
	secret, issued, err := token.Issue(rand.Reader, "gardener", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	unknown, _, err := token.Issue(rand.Reader, "gardener", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	store := new(memory.TokenStore)
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	tests := []struct {
		name   string
		store  token.Finder
		secret string
		now    time.Time
		want   error
		reads  int
	}{
		{"a valid token", store, secret, now, nil, 1},
		{"the last moment", store, secret, issued.ExpiresAt.Add(-1), nil, 1},
		{"the moment of expiry", store, secret, issued.ExpiresAt, token.ErrInvalid, 1},
		{"long expired", store, secret, now.Add(9999 * time.Hour), token.ErrInvalid, 1},
		{"an unknown token", store, unknown, now, token.ErrInvalid, 1},
		{"a typo is refused without a read", store, flip(secret, 12), now, token.ErrInvalid, 0},
		{"the digest instead of the secret", store, issued.Digest, now, token.ErrInvalid, 0},
		{"a store that is unavailable", failing{token.ErrUnavailable}, secret, now, token.ErrUnavailable, 1},
		{"a store that is broken", failing{broken}, secret, now, broken, 1},
	}
	for _, test := range tests {
		counted := &counting{Finder: test.store}
		verifier := token.Verifier{Store: counted, Now: func() time.Time { return test.now }}
		got, err := verifier.Verify(t.Context(), test.secret)
		want := token.Principal{}
		if test.want == nil {
			want = token.Principal{Subject: issued.Subject, TokenID: issued.ID}
		}
		if !errors.Is(err, test.want) || got != want {
			t.Errorf("%s: Verify = %+v, %v, want error %v", test.name, got, err, test.want)
		}
		if counted.reads != test.reads {
			t.Errorf("%s: Verify read the store %d times, want %d", test.name, counted.reads, test.reads)
		}
	}
}

// counting counts the reads of a store.
type counting struct {
	token.Finder
	reads int
}

func (c *counting) Find(ctx context.Context, digest string) (token.Token, error) {
	c.reads++
	return c.Finder.Find(ctx, digest)
}

// failing is a store that always fails.
type failing struct{ err error }

func (f failing) Find(context.Context, string) (token.Token, error) { return token.Token{}, f.err }

func checksummed(body string) string { return body + base62(crc32.ChecksumIEEE([]byte(body))) }

// base62 is the checksum as the format has it, written down a second time.
func base62(sum uint32) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits := ""
	for ; sum > 0; sum /= 62 {
		digits = string(alphabet[sum%62]) + digits
	}
	return fmt.Sprintf("%s%s", strings.Repeat("0", 6-len(digits)), digits)
}

// flip returns s with another character at i.
func flip(s string, i int) string {
	other := "0"
	if s[i] == '0' {
		other = "1"
	}
	return s[:i] + other + s[i+1:]
}

package token_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode"

	"plantstore/internal/token"
)

const prefix = "pst_"

var (
	secret = sealed(prefix + "z1z00z1z00z1z00z1z00z1z00z1z00")
	digest = fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))

	// random makes the 42 characters of this token and its id. Issue reads six bits
	// of each byte and skips 62 and 63.
	random = "\xff\x3e" + strings.Repeat("\x3d\x01\xfd\x00\x40", 9)[:42]
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	issued = token.Token{
		Digest: digest, ID: "z1z00z1z00z1", Subject: "gardener", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
	}
)

func TestIssue(t *testing.T) {
	longest := strings.Repeat("~", 128)
	tests := []struct {
		name    string
		random  string
		subject string
		after   time.Duration // noon, when it is issued
		ttl     time.Duration
		expires time.Duration // after noon, 0 for an error
	}{
		{"a whole second", random, "gardener", 0, time.Hour, time.Hour},
		{"the second after the expiry", random, "gardener", 1, time.Hour, time.Hour + time.Second},
		{"the shortest life", random, "!", time.Second - 1, time.Second, 2 * time.Second},
		{"the longest subject", random, longest, 0, time.Hour, time.Hour},
		{"a subject too long", random, longest + "~", 0, time.Hour, 0},
		{"no subject", random, "", 0, time.Hour, 0},
		{"a space in the subject", random, "a b", 0, time.Hour, 0},
		{"a subject beyond visible ASCII", random, "a\x7f", 0, time.Hour, 0},
		{"a life too short", random, "gardener", 0, time.Second - 1, 0},
		{"too few random bytes", random[:43], "gardener", 0, time.Hour, 0},
	}
	for _, test := range tests {
		now := noon.Add(test.after).In(time.FixedZone("CET", 3600))
		gotSecret, got, err := token.Issue(strings.NewReader(test.random), test.subject, now, test.ttl)
		wantSecret, want := secret, issued
		want.Subject = test.subject
		want.ExpiresAt = noon.Add(test.expires)
		if test.expires == 0 {
			wantSecret, want = "", token.Token{}
		}
		if gotSecret != wantSecret || got != want || (err != nil) != (test.expires == 0) {
			t.Errorf("%s: Issue = %q, %+v, %v, want %q, %+v", test.name, gotSecret, got, err, wantSecret, want)
		}
	}
}

var revoked = sealed(prefix + "010zz010zz010zz010zz010zz010zz")

// finder is a token.Finder with an issued and a revoked token. It counts reads.
type finder struct {
	err   error
	reads int
}

func (f *finder) Find(_ context.Context, wanted string) (token.Token, error) {
	f.reads++
	found := issued
	found.Revoked = wanted == token.Digest(revoked)
	if f.err == nil && wanted != digest && !found.Revoked {
		return token.Token{}, token.ErrNotFound
	}
	return found, f.err
}

// zeros are 30 characters that could be random.
var zeros = strings.Repeat("0", 30)

// sealed returns body with its checksum: its CRC-32 in base 62, in which math/big has the letters in the other order.
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

// padded returns a token whose checksum begins with 0.
func padded() (secret string) {
	for i := 0; secret == "" || secret[len(prefix)+30] != '0'; i++ {
		secret = sealed(fmt.Sprintf("%s%030d", prefix, i))
	}
	return secret
}

func TestVerify(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name   string
		secret string
		after  time.Duration // noon
		store  error
		want   error
		reads  int
	}{
		{"a valid token in its last moment", secret, time.Hour - 1, nil, nil, 1},
		{"the moment of expiry", secret, time.Hour, nil, token.ErrInvalid, 1},
		{"a revoked token", revoked, 0, nil, token.ErrInvalid, 1},
		{"an unknown token", padded(), 0, nil, token.ErrInvalid, 1},
		{"an unavailable store", secret, 0, token.ErrUnavailable, token.ErrUnavailable, 1},
		{"a broken store", secret, 0, broken, broken, 1},

		{"the digest", digest, 0, nil, token.ErrInvalid, 0},
		{"a character less", secret[:len(secret)-1], 0, nil, token.ErrInvalid, 0},
		{"another character", strings.Replace(secret, "1", "2", 1), 0, nil, token.ErrInvalid, 0},
		{"another checksum", secret[:len(secret)-1] + "_", 0, nil, token.ErrInvalid, 0},
		// In these the checksum is right.
		{"the prefix in another case", sealed(strings.ToUpper(prefix) + zeros), 0, nil, token.ErrInvalid, 0},
		{"a character outside the alphabet", sealed(prefix + "-" + zeros[1:]), 0, nil, token.ErrInvalid, 0},
		{"another length", sealed(prefix + zeros + "0"), 0, nil, token.ErrInvalid, 0},
	}
	for _, test := range tests {
		var want token.Principal
		if test.want == nil {
			want = token.Principal{Subject: issued.Subject, TokenID: issued.ID}
		}
		store := &finder{err: test.store}
		verifier := token.Verifier{Store: store, Now: func() time.Time { return noon.Add(test.after) }}
		got, err := verifier.Verify(t.Context(), test.secret)
		if got != want || !errors.Is(err, test.want) || store.reads != test.reads {
			t.Errorf("%s: Verify(%q) = %+v, %v with %d reads, want %+v, %v with %d",
				test.name, test.secret, got, err, store.reads, want, test.want, test.reads)
		}
	}
}

// issuer is a token.Issuer to which every token is valid.
type issuer struct{}

func (issuer) Verify(context.Context, string) (token.Principal, error) {
	return token.Principal{Subject: "issuer ann"}, nil
}

// Our prefix decides who verifies a token, and the other one is not asked.
func TestVerifyWithIssuer(t *testing.T) {
	for bearer, want := range map[string]string{
		secret: issued.Subject, prefix: "", prefix + "eyJ.e30.": "",
		strings.ToUpper(prefix): "issuer ann", "eyJ.e30." + prefix: "issuer ann",
	} {
		verifier := token.Verifier{Store: new(finder), Now: func() time.Time { return noon }, Issuer: issuer{}}
		if got, err := verifier.Verify(t.Context(), bearer); got.Subject != want || (err == nil) != (want != "") {
			t.Errorf("Verify(%q) = %+v, %v, want the subject %q", bearer, got, err, want)
		}
	}
}

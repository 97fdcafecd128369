package dynamo

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// One token as it is issued, as it is printed, and as the table holds it. Other programs read these attributes. The
// table's TTL needs seconds.
var issued = token.Token{
	ID:        "i",
	Digest:    "d",
	Subject:   "s",
	CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	ExpiresAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
}

const (
	printed = "{i d s 2026-03-01 12:00:00 +0000 UTC 9999-12-31 23:59:59 +0000 UTC false}"
	stored  = `{"created_at":{"S":"2026-03-01T12:00:00Z"},"digest":{"S":"d"},"expires_at":{"N":"253402300799"},` +
		`"id":{"S":"i"},"subject":{"S":"s"}}`
)

// The calls of the rows. Each returns the code, and what it found or what is stored.

func tokens(f *fake) *Tokens { return &Tokens{Client: newClient(f), Table: "tokens"} }

func find(ctx context.Context, f *fake) string {
	t, err := tokens(f).Find(ctx, "i")
	if err != nil {
		return code(err)
	}
	return fmt.Sprint("200 ", t)
}

func list(ctx context.Context, f *fake) string {
	tokens, err := tokens(f).List(context.WithoutCancel(ctx)) // each page has a time of its own
	return fmt.Sprint(code(err), " ", tokens)
}

func add(ctx context.Context, f *fake) string {
	err := tokens(f).Add(ctx, issued)
	return code(err) + " " + encode(f.items["i"])
}

func revoke(ctx context.Context, f *fake) string {
	err := tokens(f).Revoke(ctx, "i")
	return code(err) + " " + encode(f.items["i"])
}

func TestTokens(t *testing.T) {
	const (
		bare    = `{"id":{"S":"i"}}`
		noToken = `{"id":{"S":"i"},"revoked":{"BOOL":true}}`
		second  = `{"id":{"S":"j"},"digest":{"S":"e"},"subject":{"S":"t"}}`
		another = "{j e t 0001-01-01 00:00:00 +0000 UTC 0001-01-01 00:00:00 +0000 UTC false}"
		both    = "200 [" + printed + " " + another + "]"
	)
	revoked := strings.Replace(stored, `"subject"`, `"revoked":{"BOOL":true},"subject"`, 1)
	change := func(from, to string) string { return strings.Replace(revoked, from, to, 1) }
	others := strings.Replace(stored, `"d"`, `"e"`, 1)
	tests := []struct {
		name     string
		items    string // before the call
		call     func(context.Context, *fake) string
		attempts string // the last one repeats
		want     string
	}{
		{"a token is found", stored, find, "answered", "200 " + printed},
		{"a revoked one is found", revoked, find, "answered", "200 " + strings.Replace(printed, "false", "true", 1)},
		{"none is found", "", find, "answered", "2003"},
		{"a note is ignored", change(`"revoked":{"BOOL":true}`, `"note":{"S":"n"}`), find, "answered", "200 " + printed},
		{"revoked may be false", change("true", "false"), find, "answered", "200 " + printed},
		{"revoked is no word", change(`"BOOL":true`, `"S":"true"`), find, "answered", "5001"},
		{"revoked is no number", change(`"BOOL":true`, `"N":"1"`), find, "answered", "5001"},
		{"the time of expiry is no word", change(`"N":"253402300799"`, `"S":"soon"`), find, "answered", "5001"},
		{
			"revoked is read by this very name", change(`"revoked"`, `"Revoked":{"BOOL":false},"revoked"`), find, "answered",
			"200 " + strings.Replace(printed, "false", "true", 1),
		},
		{"a token has a digest", change(`"digest":{"S":"d"},`, ""), find, "answered", "5001"},
		{"a token has a subject", change(`,"subject":{"S":"s"}`, ""), find, "answered", "5001"},
		{"a find is repeated", stored, find, "no answer comes; no answer comes; answered", "200 " + printed},
		{"a find has no answer", stored, find, "it is throttled", "5003"},
		{"a find is refused", stored, find, "access is denied", "5001"},

		{"a token is added", "", add, "answered", "200 " + stored},
		{"a token is added again", "", add, "applied, but no answer comes; answered", "200 " + stored},
		{"an add of a revoked token changes nothing", revoked, add, "answered", "200 " + revoked},
		{"an add of another's id changes nothing", others, add, "answered", "5001 " + others},
		{"an add of an id that exists changes nothing", bare, add, "answered", "5001 " + bare},
		{"an add has no answer", "", add, "applied, but no answer comes", "5003 " + stored},
		{"an add is refused", "", add, "access is denied", "5001 null"},

		{"a token is revoked", stored, revoke, "answered", "200 " + revoked},
		{"an item that is no token is revoked", bare, revoke, "answered", "200 " + noToken},
		{"an unknown token is not revoked", "", revoke, "answered", "2003 null"},
		{"a revocation is repeated", stored, revoke, "applied, but no answer comes; answered", "200 " + revoked},
		{"a revocation has no answer", stored, revoke, "applied, but no answer comes", "5003 " + revoked},
		{"a revocation is refused", stored, revoke, "access is denied", "5001 " + stored},

		{"a list has every page", stored + second, list, "answered", both},
		{"a list with an item that is no token", second + bare, list, "answered", "5001 []"},
		{"a page is repeated", stored + second, list, "answered; no answer comes; answered", both},
		{"a page has no answer", stored + second, list, "answered; it is throttled", "5003 []"},
		{"a page is refused", stored + second, list, "answered; access is denied", "5001 []"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(test.attempts)
				fake.store(test.items)
				ctx, cancel := context.WithTimeout(t.Context(), 1700*time.Millisecond)
				defer cancel()
				start := time.Now()
				if got := test.call(ctx, fake); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("the call took %v", took)
				}
			})
		})
	}
}

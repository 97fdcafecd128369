package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"plantstore/internal/token"
)

// list returns the subjects and the states that `token list` prints with these flags.
func (p tool) list(t *testing.T, flags string) (listed []string) {
	t.Helper()
	got := p.run(t, "token list -o json "+flags, "")
	var rows []row
	if err := json.Unmarshal([]byte(got.stdout), &rows); err != nil || got.status != 0 {
		t.Fatalf("token list %s = %+v, %v, want tokens and status 0", flags, got, err)
	}
	for _, r := range rows {
		listed = append(listed, r.Subject+" "+r.State)
	}
	return listed
}

// An id, or a token on standard input, denotes the one token that is revoked, and this can be repeated. In a
// list, what expires soonest comes first.
func TestRevokeAndList(t *testing.T) {
	t.Parallel()
	p, _ := tokenTool(t)
	p.issue(t, "bob", "")
	p.issue(t, "ann", "--ttl 2h")
	_, byID := p.issue(t, "eve", "--ttl 3h")
	input, byInput := p.issue(t, "eve", "--ttl 4h")
	p.revoke(t, byID, "", byID)
	p.revoke(t, byID, "", byID)
	p.revoke(t, "-", input+"\n", byInput)
	p.check(t, "token list --expiring 1d", result{status: 1, stdout: "ID .*\n.* ann .*\n", stderr: ".*tokens expire soon: .*\n"})
	p.check(t, "token revoke nobody", result{status: 1, stderr: ".*no token has the id nobody, .*\n"})
	for _, test := range []struct {
		name, flags string
		want        []string
	}{
		{name: "all tokens", want: []string{"ann valid", "eve revoked", "eve revoked", "bob valid"}},
		{name: "valid tokens that expire within an hour", flags: "--expiring 1h"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := p.list(t, test.flags); !slices.Equal(got, test.want) {
				t.Errorf("token list %s = %q, want %q", test.flags, got, test.want)
			}
		})
	}
}

// An item of another tool neither hides the tokens nor controls the terminal.
func TestListOfOtherItems(t *testing.T) {
	t.Parallel()
	p, store := tokenTool(t)
	for _, item := range []token.Token{
		{ID: "odd", Digest: "d", Subject: "eve\x1b[2J", ExpiresAt: time.Now()},
		{ID: "un\x1breadable"}, // without a digest
	} {
		if err := store.Add(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	const (
		header = "ID +SUBJECT +CREATED +EXPIRES +STATE\n"
		unread = `.*the item with the id "un\\x1breadable" is no token\n`
	)
	p.check(t, "token list", result{status: 1, stdout: header + `odd +"eve\\x1b\[2J" .* expired\n`, stderr: unread})
	p.check(t, "token list --expiring 1d", result{status: 1, stdout: header, stderr: unread})
}

package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"plantstore/internal/token"
)

// list returns the tokens that `token list` prints, with these flags besides.
func (p tool) list(t *testing.T, flags string, status int) []row {
	t.Helper()
	got := p.run(t, "token list -o json "+flags, "")
	var listed []row
	if err := json.Unmarshal([]byte(got.stdout), &listed); err != nil || got.status != status {
		t.Fatalf("token list %s = %+v, %v, want tokens and status %d", flags, got, err, status)
	}
	return listed
}

// The list shows no secret, and what expires soonest comes first.
func TestList(t *testing.T) {
	t.Parallel()
	p, _ := tokenTool(t)
	bob := p.issue(t, "bob", "30d")
	ann := p.issue(t, "ann", "2h")
	revoked := p.issue(t, "eve", "3h")
	p.revoke(t, revoked.ID, "", revoked.ID)
	revoked.State = "revoked"
	ann.Token, bob.Token, revoked.Token = "", "", ""
	for _, test := range []struct {
		name, flags string
		status      int
		want        []row
	}{
		{name: "all tokens", want: []row{ann, revoked, bob}},
		{name: "valid tokens that expire within a day", flags: "--expiring 1d", status: 1, want: []row{ann}},
		{name: "valid tokens that expire within an hour", flags: "--expiring 1h"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := p.list(t, test.flags, test.status); !slices.Equal(got, test.want) {
				t.Errorf("token list %s = %+v, want %+v", test.flags, got, test.want)
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
	p.check(t, "token list", result{
		status: 1,
		stdout: "ID +SUBJECT +CREATED +EXPIRES +STATE\n" + `odd +"eve\\x1b\[2J" .* expired\n`,
		stderr: `.*the item with the id "un\\x1breadable" is no token\n`,
	})
}

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

// What expires soonest comes first.
func TestList(t *testing.T) {
	t.Parallel()
	p, _ := tokenTool(t)
	p.issue(t, "bob", "30d")
	p.issue(t, "ann", "2h")
	_, revoked := p.issue(t, "eve", "3h")
	p.revoke(t, revoked, "", revoked)
	for _, test := range []struct {
		name, flags string
		status      int
		want        []string // subject and state
	}{
		{name: "all tokens", want: []string{"ann valid", "eve revoked", "bob valid"}},
		{name: "valid tokens that expire within a day", flags: "--expiring 1d", status: 1, want: []string{"ann valid"}},
		{name: "valid tokens that expire within an hour", flags: "--expiring 1h"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, listed := range p.list(t, test.flags, test.status) {
				got = append(got, listed.Subject+" "+listed.State)
			}
			if !slices.Equal(got, test.want) {
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
	p.check(t, "token list", result{
		status: 1,
		stdout: "ID +SUBJECT +CREATED +EXPIRES +STATE\n" + `odd +"eve\\x1b\[2J" .* expired\n`,
		stderr: `.*the item with the id "un\\x1breadable" is no token\n`,
	})
}

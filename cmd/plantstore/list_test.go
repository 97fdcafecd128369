package main

import (
	"testing"
	"time"

	"plantstore/internal/token"
)

// header is the first line of a list, as a regular expression.
const header = "ID +SUBJECT +CREATED +EXPIRES +STATE\n"

// The command token revoke takes an id, or a token on standard input, and may be repeated. The command token list
// prints the tokens, soonest expiry first.
func TestRevokeAndList(t *testing.T) {
	t.Parallel()
	plantstore, _ := tokenTool(t)
	plantstore.issue(t, "bob", "")
	plantstore.issue(t, "ann", "--ttl 2h")
	_, byID := plantstore.issue(t, "eve", "--ttl 3h")
	input, byInput := plantstore.issue(t, "eve", "--ttl 4h")
	plantstore.revoke(t, byID, "", byID)
	plantstore.revoke(t, byID, "", byID)
	plantstore.revoke(t, "-", input+"\n", byInput)
	plantstore.check(t, "token revoke nobody", result{status: 1, stderr: ".*no token has the id nobody, .*\n"})
	const all = `.* ann .* valid\n.* eve .* revoked\n.* eve .* revoked\n.* bob .* valid\n`
	plantstore.check(t, "token list", result{stdout: header + all})
	plantstore.check(t, "token list --expiring 1d", result{status: 1, stdout: header + ".* ann .*\n", stderr: ".*tokens expire soon: .*\n"})
	plantstore.check(t, "token list --expiring 1h", result{stdout: header})
}

// An item that another tool wrote does not hide the tokens, and cannot control the terminal.
func TestListOfOtherItems(t *testing.T) {
	t.Parallel()
	plantstore, store := tokenTool(t)
	for _, item := range []token.Token{
		{ID: "odd", Digest: "d", Subject: "eve\x1b[2J", ExpiresAt: time.Now()},
		{ID: "un\x1breadable"}, // without a digest
	} {
		if err := store.Add(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	const unread = `.*the item with the id "un\\x1breadable" is no token: .*\n`
	plantstore.check(t, "token list", result{status: 1, stdout: header + `odd +"eve\\x1b\[2J" .* expired\n`, stderr: unread})
	plantstore.check(t, "token list --expiring 1d", result{status: 1, stdout: header, stderr: unread})
}

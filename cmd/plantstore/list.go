package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"plantstore/internal/token"
)

type listCommand struct {
	Expiring lifetime `placeholder:"TIME" help:"List only the valid tokens that expire within this time, for example 7d. The exit status is 1 if there are any."`
}

// Run prints the tokens. If some cannot be read, it prints the others.
func (c *listCommand) Run(ctx context.Context, command *tokenCommand) error {
	store, err := command.store(ctx)
	if err != nil {
		return err
	}
	tokens, unread := store.List(ctx)
	if unread != nil && len(tokens) == 0 {
		return command.explain(unread, store.Table)
	}
	if c.Expiring > 0 {
		now := time.Now()
		tokens = slices.DeleteFunc(tokens, func(t token.Token) bool {
			return t.Revoked || t.Expired(now) || !t.Expired(now.Add(time.Duration(c.Expiring)))
		})
	}
	if err := printTokens(tokens); err != nil {
		return err
	}
	if unread != nil {
		return command.explain(unread, store.Table)
	}
	if c.Expiring > 0 && len(tokens) > 0 {
		return errors.New("tokens expire soon: issue new ones to their holders")
	}
	return nil
}

// printTokens prints the tokens, soonest expiry first.
func printTokens(tokens []token.Token) error {
	slices.SortFunc(tokens, func(a, b token.Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSUBJECT\tCREATED\tEXPIRES\tSTATE")
	for _, t := range tokens {
		created, expires := t.CreatedAt.Format(time.RFC3339), t.ExpiresAt.Format(time.RFC3339)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", printable(t.ID), printable(t.Subject), created, expires, stateOf(t))
	}
	return table.Flush()
}

func stateOf(t token.Token) string {
	switch {
	case t.Revoked:
		return "revoked"
	case t.Expired(time.Now()):
		return "expired"
	}
	return "valid"
}

// printable returns text, quoted if a terminal would not print all of it.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"plantstore/internal/token"
)

type listCommand struct {
	Output   string   `short:"o" enum:"table,json" default:"table" help:"Output format: table or json."`
	Expiring lifetime `placeholder:"TIME" help:"List only the valid tokens that expire within this time, for example 7d. The exit status is 1 if there are any."`
}

// Run prints the tokens. If some cannot be read, it prints the others.
func (c *listCommand) Run(ctx context.Context, command *tokenCommand) error {
	store, err := command.store(ctx)
	if err != nil {
		return err
	}
	tokens, unread := collect(store.List(ctx))
	if unread != nil && len(tokens) == 0 {
		return command.explain(unread, store.Table)
	}
	if c.Expiring > 0 {
		now := time.Now()
		tokens = slices.DeleteFunc(tokens, func(t token.Token) bool {
			return t.Revoked || t.Expired(now) || !t.Expired(now.Add(time.Duration(c.Expiring)))
		})
	}
	if err := c.print(tokens); err != nil {
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

// collect returns the tokens of a list, and its last error.
func collect(list iter.Seq2[token.Token, error]) (tokens []token.Token, unread error) {
	for t, err := range list {
		if err != nil {
			unread = err
			continue
		}
		tokens = append(tokens, t)
	}
	return tokens, unread
}

// print prints the tokens, soonest expiry first.
func (c *listCommand) print(tokens []token.Token) error {
	slices.SortFunc(tokens, func(a, b token.Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	rows := make([]row, len(tokens))
	for i, t := range tokens {
		rows[i] = newRow(t)
	}
	if c.Output == "json" {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSUBJECT\tCREATED\tEXPIRES\tSTATE")
	for _, r := range rows {
		created, expires := r.CreatedAt.Format(time.RFC3339), r.ExpiresAt.Format(time.RFC3339)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", printable(r.ID), printable(r.Subject), created, expires, r.State)
	}
	return table.Flush()
}

// row is a token in the output.
type row struct {
	ID        string    `json:"id"`
	Subject   string    `json:"subject"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	State     string    `json:"state"`
}

func newRow(t token.Token) row {
	state := "valid"
	switch {
	case t.Revoked:
		state = "revoked"
	case t.Expired(time.Now()):
		state = "expired"
	}
	return row{
		ID:        t.ID,
		Subject:   t.Subject,
		CreatedAt: t.CreatedAt,
		ExpiresAt: t.ExpiresAt,
		State:     state,
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"plantstore/internal/token"
)

type tokenCommand struct {
	connection
	Issue  issueCommand  `cmd:"" help:"Issue a token and print it. It cannot be shown again."`
	List   listCommand   `cmd:"" help:"List tokens, soonest expiry first."`
	Revoke revokeCommand `cmd:"" help:"Revoke a token immediately."`
}

// period is a flag with a duration, which may be in days, such as 30d.
type period time.Duration

const day = 24 * time.Hour

// Decode implements [kong.MapperValue].
func (p *period) Decode(ctx *kong.DecodeContext) error {
	duration, err := parsePeriod(ctx.Scan.Pop().String())
	if err != nil || duration < time.Second || duration > 9999*day {
		return errors.New("must be a time such as 90m, 12h or 30d, from 1s to 9999d")
	}
	*p = period(duration)
	return nil
}

func parsePeriod(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseInt(days, 10, 16) // 16 bits of days cannot overflow a Duration
	return time.Duration(n) * day, err
}

type issueCommand struct {
	Subject string `required:"" help:"Holder of the token: 1 to 128 visible ASCII characters."`
	TTL     period `default:"30d" placeholder:"TIME" help:"Lifetime, such as 90m, 12h or 30d (default ${default})."`
}

func (c *issueCommand) Run(ctx context.Context, command *tokenCommand) error {
	bearer, t, err := token.Issue(c.Subject, time.Now(), time.Duration(c.TTL))
	if err != nil {
		return err
	}
	store, err := command.open(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := store.Add(ctx, t); err != nil { // an earlier attempt may have stored it
		return fmt.Errorf("cannot issue a token: %w; if `token list` shows %s, revoke it, because its secret is lost", err, t.ID)
	}
	fmt.Fprintf(os.Stderr, "Token %s for %s, valid until %s:\n", t.ID, t.Subject, t.ExpiresAt.Format(time.RFC3339))
	if _, err := fmt.Println(bearer); err != nil {
		return fmt.Errorf("token %s was issued but could not be printed: revoke it (%w)", t.ID, err)
	}
	return nil
}

type listCommand struct {
	Expiring period `placeholder:"TIME" help:"List only valid tokens that expire within TIME. If there are any, exit with 1."`
}

func (c *listCommand) Run(ctx context.Context, command *tokenCommand) error {
	store, err := command.open(ctx)
	if err != nil {
		return err
	}
	tokens, err := store.List(ctx)
	if err != nil && len(tokens) == 0 {
		return err
	}
	now := time.Now()
	if c.Expiring > 0 {
		tokens = slices.DeleteFunc(tokens, func(t token.Token) bool {
			return stateOf(t, now) != "valid" || !t.Expired(now.Add(time.Duration(c.Expiring)))
		})
	}
	err = errors.Join(err, printTokens(tokens, now))
	if c.Expiring > 0 && len(tokens) > 0 {
		err = errors.Join(err, errors.New("some tokens expire soon: issue new ones"))
	}
	return err
}

// printTokens prints the tokens with their states now, soonest expiry first.
func printTokens(tokens []token.Token, now time.Time) error {
	slices.SortFunc(tokens, func(a, b token.Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSUBJECT\tCREATED\tEXPIRES\tSTATE")
	for _, t := range tokens {
		created, expires := t.CreatedAt.Format(time.RFC3339), t.ExpiresAt.Format(time.RFC3339)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", printable(t.ID), printable(t.Subject), created, expires, stateOf(t, now))
	}
	return table.Flush()
}

var visible = regexp.MustCompile(`^[!-~]+$`)

// printable quotes text that might control the terminal, or look like another column or row.
func printable(text string) string {
	if visible.MatchString(text) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

func stateOf(t token.Token, now time.Time) string {
	switch {
	case t.Revoked:
		return "revoked"
	case t.Expired(now):
		return "expired"
	}
	return "valid"
}

type revokeCommand struct {
	Words []string `arg:"" name:"token" help:"Id of the token, or text with the whole token in it, or - to read either from standard input."`
}

func (c *revokeCommand) Run(ctx context.Context, command *tokenCommand) error {
	id, err := c.tokenID()
	if err != nil {
		return err
	}
	store, err := command.open(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := store.Revoke(ctx, id); err != nil {
		return fmt.Errorf("cannot revoke token %s in table %s: %w", id, store.Table, err)
	}
	fmt.Printf("Token %s is revoked.\n", id)
	return nil
}

// tokenID returns the id that was typed, or the id of the one token in the text. Its errors repeat none of the text, which
// may be secret.
func (c *revokeCommand) tokenID() (string, error) {
	text := strings.Join(c.Words, " ")
	if text == "-" {
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			return "", err
		}
		text = string(input)
	}
	text = strings.TrimSpace(text)
	if token.IsID(text) {
		return text, nil
	}
	ids := token.FindIDs(text)
	if len(ids) != 1 {
		return "", fmt.Errorf("revoke needs the id of a token, or text with exactly one whole token; this has %d", len(ids))
	}
	return ids[0], nil
}

package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// tokenCommand is `plantstore token`.
type tokenCommand struct {
	connection
	Stack string `help:"CloudFormation stack whose table of tokens to use."`
	Table string `env:"TOKENS_TABLE" help:"Name of the table of tokens, where there is no --stack."`

	Issue  issueCommand  `cmd:"" help:"Issue a token and print it. It cannot be shown again."`
	List   listCommand   `cmd:"" help:"List the tokens, those that expire first first."`
	Revoke revokeCommand `cmd:"" help:"Revoke a token, at once."`
}

// do calls f with the store that the flags name.
func (c *tokenCommand) do(ctx context.Context, f func(context.Context, token.Store) error) error {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	table, err := c.tableName(ctx)
	if err != nil {
		return err
	}
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	return c.explain(f(ctx, &dynamo.TokenStore{Client: client, Table: table}), table)
}

// tableName returns the name of the table of tokens.
func (c *tokenCommand) tableName(ctx context.Context) (string, error) {
	switch {
	case c.Stack != "":
		return c.tableOfStack(ctx)
	case c.Table != "":
		return c.Table, nil
	case c.EndpointURL != "":
		return localTokensTable, nil
	}
	return "", errors.New("which tokens? Give --stack or --table, or --endpoint-url for a local DynamoDB")
}

func (c *tokenCommand) tableOfStack(ctx context.Context) (string, error) {
	cfg, err := new(connection).config(ctx)
	if err != nil {
		return "", err
	}
	logicalID := "TokensTable"
	out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
		StackName:         &c.Stack,
		LogicalResourceId: &logicalID,
	})
	if err != nil {
		return "", fmt.Errorf("no table of tokens in stack %s: %w", c.Stack, err)
	}
	if out.StackResourceDetail == nil || aws.ToString(out.StackResourceDetail.PhysicalResourceId) == "" {
		return "", fmt.Errorf("stack %s has no table of tokens yet", c.Stack)
	}
	return *out.StackResourceDetail.PhysicalResourceId, nil
}

// issueCommand is `plantstore token issue`.
type issueCommand struct {
	Subject string        `required:"" help:"Whom the token is for: 1 to 128 visible ASCII characters."`
	TTL     time.Duration `name:"ttl" default:"720h" help:"How long the token is valid, such as 90m or 720h."`
}

// Run issues a token. It prints the token alone on standard output.
func (c *issueCommand) Run(ctx context.Context, command *tokenCommand) error {
	secret, t, err := token.Issue(rand.Reader, c.Subject, time.Now(), c.TTL)
	if err != nil {
		return err
	}
	err = command.do(ctx, func(ctx context.Context, store token.Store) error { return store.Add(ctx, t) })
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Token %s for %s, valid until %s:\n", t.ID, t.Subject, t.ExpiresAt.Format(time.RFC3339))
	if _, err := fmt.Println(secret); err != nil {
		return fmt.Errorf("token %s is issued, but could not be printed: revoke it (%w)", t.ID, err)
	}
	return nil
}

// listCommand is `plantstore token list`.
type listCommand struct{}

// Run prints a line a token.
func (*listCommand) Run(ctx context.Context, command *tokenCommand) error {
	var tokens []token.Token
	err := command.do(ctx, func(ctx context.Context, store token.Store) (err error) {
		tokens, err = store.List(ctx)
		return err
	})
	if err != nil && len(tokens) == 0 {
		return err
	}
	slices.SortFunc(tokens, func(a, b token.Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.ID, b.ID))
	})
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSUBJECT\tCREATED\tEXPIRES\tSTATE")
	for _, t := range tokens {
		state := "valid"
		if t.Expired(time.Now()) {
			state = "expired"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.Subject,
			t.CreatedAt.Format(time.RFC3339), t.ExpiresAt.Format(time.RFC3339), state)
	}
	return cmp.Or(err, table.Flush())
}

// revokeCommand is `plantstore token revoke`.
type revokeCommand struct {
	ID string `arg:"" help:"The token's id, as issue and list print it."`
}

// Run revokes the token.
func (c *revokeCommand) Run(ctx context.Context, command *tokenCommand) error {
	err := command.do(ctx, func(ctx context.Context, store token.Store) error { return store.Revoke(ctx, c.ID) })
	if errors.Is(err, token.ErrNotFound) {
		return fmt.Errorf("there is no token with id %s; `plantstore token list` shows them", c.ID)
	}
	if err != nil {
		return err
	}
	fmt.Printf("Token %s is revoked.\n", c.ID)
	return nil
}

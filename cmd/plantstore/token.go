package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
)

type tokenCommand struct {
	connection
	Stack string `help:"CloudFormation stack that contains the table of tokens."`
	Table string `env:"TOKENS_TABLE" help:"Table of tokens, if --stack is not set (default with an endpoint: ${tokens_table})."`

	Issue  issueCommand  `cmd:"" help:"Issue a token and print it. It cannot be shown again."`
	List   listCommand   `cmd:"" help:"List tokens, soonest expiry first."`
	Revoke revokeCommand `cmd:"" help:"Revoke a token immediately."`
}

// store returns the store that the flags name.
func (c *tokenCommand) store(ctx context.Context) (*dynamo.Tokens, error) {
	table, err := c.tableName(ctx)
	if err != nil {
		return nil, err
	}
	client, err := c.client(ctx, commandAttemptTimeout)
	if err != nil {
		return nil, err
	}
	return &dynamo.Tokens{Client: client, Table: table}, nil
}

func (c *tokenCommand) tableName(ctx context.Context) (string, error) {
	if c.Stack != "" {
		return findTable(ctx, c.Stack)
	}
	if c.Table == "" && c.EndpointURL == "" {
		return "", usageError("set --stack or --table, or --endpoint-url for a local DynamoDB")
	}
	return cmp.Or(c.Table, dynamo.LocalTokensTable), nil
}

// findTable returns the name of the table of tokens in a stack.
func findTable(ctx context.Context, stack string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	// --endpoint-url applies to DynamoDB only.
	cfg, err := new(connection).config(ctx)
	if err != nil {
		return "", err
	}
	in := cloudformation.DescribeStackResourceInput{StackName: &stack, LogicalResourceId: aws.String("TokensTable")}
	out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &in)
	if err != nil {
		return "", fmt.Errorf("cannot find the table of tokens in stack %s: %w", stack, err)
	}
	if name := aws.ToString(out.StackResourceDetail.PhysicalResourceId); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("stack %s has no table of tokens yet", stack)
}

// lifetime is a duration, also in days, such as 30d.
type lifetime time.Duration

// Decode implements [kong.MapperValue]. Kong passes values such as -1h too.
func (l *lifetime) Decode(ctx *kong.DecodeContext) error {
	text := ctx.Scan.Pop().String()
	duration, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, notNumber := strconv.ParseInt(days, 10, 16)
		duration, err = time.Duration(n)*24*time.Hour, notNumber
	}
	if err != nil || duration < time.Second || duration > math.MaxInt16*24*time.Hour {
		return errors.New("must be between 1s and 32767d, for example 90m, 12h or 30d")
	}
	*l = lifetime(duration)
	return nil
}

type issueCommand struct {
	Subject string   `required:"" help:"Holder of the token: 1 to 128 visible ASCII characters."`
	TTL     lifetime `name:"ttl" default:"30d" placeholder:"TIME" help:"Lifetime of the token, for example 90m, 12h or 30d (default ${default})."`
}

// Run issues a token.
func (c *issueCommand) Run(ctx context.Context, command *tokenCommand) error {
	bearer, t, err := token.Issue(c.Subject, time.Now(), time.Duration(c.TTL))
	if err != nil {
		return usageError(err.Error())
	}
	store, err := command.store(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	err = store.Add(ctx, t)
	if errors.Is(err, token.ErrUnavailable) {
		return fmt.Errorf("%w; token %s may be stored, but its secret is lost: revoke it", err, t.ID)
	}
	if err != nil {
		return command.explain(err, store.Table)
	}
	fmt.Fprintf(os.Stderr, "Token %s for %s, valid until %s:\n", t.ID, t.Subject, t.ExpiresAt.Format(time.RFC3339))
	if _, err := fmt.Println(bearer); err != nil {
		return fmt.Errorf("token %s was issued but could not be printed: revoke it (%w)", t.ID, err)
	}
	return nil
}

type revokeCommand struct {
	ID string `arg:"" help:"Id of the token, as issue and list print it, or - to read the token itself from standard input, which no other user of the machine sees."`
}

// Run revokes the token.
func (c *revokeCommand) Run(ctx context.Context, command *tokenCommand) error {
	id, err := c.tokenID()
	if err != nil {
		return err
	}
	store, err := command.store(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	err = store.Revoke(ctx, id)
	if errors.Is(err, token.ErrNotFound) {
		return fmt.Errorf("no token has the id %s, see `plantstore token list`", id)
	}
	if err != nil {
		return command.explain(err, store.Table)
	}
	fmt.Printf("Token %s is revoked.\n", id)
	return nil
}

// tokenID returns the id of the token to revoke.
func (c *revokeCommand) tokenID() (string, error) {
	if c.ID != "-" {
		return c.ID, nil
	}
	input, err := io.ReadAll(io.LimitReader(os.Stdin, 4096))
	if err != nil {
		return "", err
	}
	id, ok := token.ParseID(strings.TrimSpace(string(input)))
	if !ok {
		return "", usageError("standard input is not a token")
	}
	return id, nil
}

// Command token issues, lists and revokes bearer tokens.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/internal/tokens"
)

const usage = `usage:
  token issue  --stack STACK --subject NAME [--ttl 720h]  prints a new token, which cannot be shown again
  token list   --stack STACK                              prints whose tokens there are, and their digests
  token revoke --stack STACK TOKEN|DIGEST                 takes effect with the next request

--stack names the CloudFormation stack that has the table, or --table the table itself. With --endpoint-url
http://localhost:8000, the command uses DynamoDB Local, and needs no AWS account.
`

var errUsage = errors.New("wrong usage")

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	err := run(ctx, os.Args[1:])
	cancel()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	stack := flags.String("stack", "", "")
	table := flags.String("table", "", "")
	endpoint := flags.String("endpoint-url", "", "")
	subject := flags.String("subject", "", "")
	ttl := flags.Duration("ttl", 30*24*time.Hour, "")
	_ = flags.Parse(args[1:]) // it exits if that fails
	store, err := open(ctx, *stack, *table, *endpoint)
	if err != nil {
		return err
	}
	switch command, rest := args[0], flags.Args(); {
	case command == "issue" && len(rest) == 0:
		return issue(ctx, store, *subject, *ttl)
	case command == "list" && len(rest) == 0:
		return list(ctx, store)
	case command == "revoke" && len(rest) == 1:
		return revoke(ctx, store, rest[0])
	}
	return errUsage
}

// tokensTable is the name in template.yaml, and under sam local the table's own.
const tokensTable = "TokensTable"

func open(ctx context.Context, stack, table, endpoint string) (tokens.Table, error) {
	if strings.HasPrefix(endpoint, "http://") && stack == "" {
		return tokens.Table{Client: dynamo.NewLocal(endpoint), Name: cmp.Or(table, tokensTable)}, nil
	}
	if (stack == "") == (table == "") {
		return tokens.Table{}, errors.New("give either --stack or --table")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return tokens.Table{}, err
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return tokens.Table{}, fmt.Errorf("there are no AWS credentials: set AWS_PROFILE to a profile that has some (%w)", err)
	}
	if stack != "" {
		out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
			StackName: &stack, LogicalResourceId: aws.String(tokensTable),
		})
		if err != nil {
			return tokens.Table{}, fmt.Errorf("cannot find the table in the stack %s: %w", stack, err)
		}
		table = aws.ToString(out.StackResourceDetail.PhysicalResourceId)
	}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	return tokens.Table{Client: client, Name: table}, nil
}

// issue prints the token alone on standard output, so that a script can take it.
func issue(ctx context.Context, store tokens.Table, subject string, ttl time.Duration) error {
	bearer, token, err := tokens.Issue(subject, ttl)
	if err != nil {
		return err
	}
	if err := store.Add(ctx, token); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Token of %s, valid until %s:\n", subject, token.ExpiresAt.Format(time.RFC3339))
	_, err = fmt.Println(bearer)
	return err
}

func list(ctx context.Context, store tokens.Table) error {
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SUBJECT\tCREATED\tEXPIRES\tDIGEST")
	for _, t := range all {
		created, expires := t.CreatedAt.Format(time.RFC3339), t.ExpiresAt.UTC().Format(time.RFC3339)
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", t.Subject, created, expires, t.Digest)
	}
	return out.Flush()
}

func revoke(ctx context.Context, store tokens.Table, digest string) error {
	if tokens.IsToken(digest) {
		digest = tokens.Digest(digest)
	}
	if err := store.Revoke(ctx, digest); err != nil {
		return fmt.Errorf("cannot revoke this, which must be a whole token or a digest: %w", err)
	}
	_, err := fmt.Println("revoked")
	return err
}

// Command token issues, lists and revokes bearer tokens.
package main

import (
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
	"github.com/aws/smithy-go/logging"

	"plantstore/internal/dynamo"
	"plantstore/internal/tokens"
)

const usage = `usage:
  token issue  --stack STACK --subject NAME [--days 30]  prints a new token, which cannot be shown again
  token list   --stack STACK                             prints whose tokens there are, and their digests
  token revoke --stack STACK TOKEN|DIGEST                takes effect with the next request

STACK is a CloudFormation stack. With --endpoint-url http://localhost:8000 in place of --stack, the command uses DynamoDB
Local, and needs no AWS account.
`

var errUsage = errors.New("wrong usage")

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	err := run(ctx, os.Args[1:])
	cancel()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "%v\n%s", err, usage)
		os.Exit(2)
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	var at target
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.Usage = func() {}
	flags.StringVar(&at.stack, "stack", "", "")
	flags.StringVar(&at.endpoint, "endpoint-url", "", "")
	subject := flags.String("subject", "", "")
	days := flags.Int("days", 30, "")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return errUsage // the flag package has printed what is wrong
	}
	switch command, rest := args[0], flags.Args(); {
	case command == "help" || command == "-h" || command == "--help":
		return flag.ErrHelp
	case (at.stack == "") == (at.endpoint == ""):
		return fmt.Errorf("%w: give either --stack or --endpoint-url", errUsage)
	case command == "issue" && len(rest) == 0:
		return issue(ctx, at, *subject, *days)
	case command == "list" && len(rest) == 0:
		return list(ctx, at)
	case command == "revoke" && len(rest) == 1:
		return revoke(ctx, at, rest[0])
	}
	return errUsage
}

// target says where the table is: in a stack, or in DynamoDB Local.
type target struct{ stack, endpoint string }

// tokensTable is the name in template.yaml, and under sam local the table's own.
const tokensTable = "TokensTable"

func (t target) open(ctx context.Context) (tokens.Table, error) {
	if t.endpoint != "" {
		return tokens.Table{Client: dynamo.NewLocal(t.endpoint), Name: tokensTable}, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return tokens.Table{}, err
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		hint := "there are no AWS credentials: set AWS_PROFILE to a profile that has some"
		if strings.Contains(err.Error(), "SSO") { // the SDK has no type for it if the profile has an sso_session
			hint = "the SSO session has expired: run aws sso login"
		}
		return tokens.Table{}, fmt.Errorf("%s (%w)", hint, err)
	}
	out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &cloudformation.DescribeStackResourceInput{
		StackName: &t.stack, LogicalResourceId: aws.String(tokensTable),
	})
	if err != nil {
		return tokens.Table{}, fmt.Errorf("cannot find the table in the stack %s: %w", t.stack, err)
	}
	table := aws.ToString(out.StackResourceDetail.PhysicalResourceId)
	return tokens.Table{Client: dynamodb.NewFromConfig(cfg), Name: table}, nil
}

// issue prints the token alone on standard output, so that a script can take it.
func issue(ctx context.Context, at target, subject string, days int) error {
	bearer, token, err := tokens.Issue(subject, days)
	if err != nil {
		return err
	}
	store, err := at.open(ctx)
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

func list(ctx context.Context, at target) error {
	store, err := at.open(ctx)
	if err != nil {
		return err
	}
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "SUBJECT\tCREATED\tEXPIRES\tDIGEST")
	for _, t := range all {
		if t.Subject == "" {
			fmt.Fprintf(out, "(no token)\t\t\t%s\n", t.Digest)
			continue
		}
		created, expires := t.CreatedAt.Format(time.RFC3339), t.ExpiresAt.UTC().Format(time.RFC3339)
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", t.Subject, created, expires, t.Digest)
	}
	return out.Flush()
}

func revoke(ctx context.Context, at target, argument string) error {
	digest := argument
	if tokens.IsToken(argument) {
		digest = tokens.Digest(argument)
	} else if !tokens.IsDigest(argument) {
		return errors.New("revoke needs a whole token, or a digest as list prints it")
	}
	store, err := at.open(ctx)
	if err != nil {
		return err
	}
	existed, err := store.Revoke(ctx, digest)
	if err != nil {
		return err
	}
	result := "revoked"
	if !existed {
		result = "there is no such token here: it may have been revoked before, or have expired"
	}
	_, err = fmt.Println(result)
	return err
}

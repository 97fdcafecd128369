package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go/logging"

	"plantstore/internal/dynamo"
)

const (
	timeout        = 10 * time.Second // of a call to AWS, including retries
	attemptTimeout = 3 * time.Second
	tokensTable    = "TokensTable" // logical id in template.yaml; under sam local, also the name of the table
)

// connection has the flags that select a table of tokens. The SDK reads the region and the credentials from the
// environment, a profile or SSO.
type connection struct {
	Stack       string `xor:"table" help:"CloudFormation stack with the table of tokens."`
	Table       string `xor:"table" help:"Table of tokens (with an endpoint, by default TokensTable)."`
	EndpointURL string `env:"AWS_ENDPOINT_URL_DYNAMODB,AWS_ENDPOINT_URL" help:"URL of a DynamoDB outside AWS."`
}

func (c *connection) open(ctx context.Context) (*dynamo.Tokens, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	table, err := c.tableName(ctx)
	if err != nil {
		return nil, err
	}
	cfg, err := loadConfig(ctx, strings.HasPrefix(c.EndpointURL, "http:")) // AWS uses https
	if err != nil {
		return nil, err
	}
	if c.EndpointURL != "" {
		cfg.BaseEndpoint = &c.EndpointURL
		cfg.ConfigSources = nil // otherwise an endpoint in the environment would win
	}
	return &dynamo.Tokens{Client: dynamo.NewClient(cfg), Table: table}, nil
}

func (c *connection) tableName(ctx context.Context) (string, error) {
	if c.Stack != "" {
		return findTable(ctx, c.Stack)
	}
	if c.Table == "" && c.EndpointURL == "" {
		return "", errors.New("set --stack or --table, or --endpoint-url for a local DynamoDB")
	}
	return cmp.Or(c.Table, tokensTable), nil
}

func findTable(ctx context.Context, stack string) (string, error) {
	cfg, err := loadConfig(ctx, false)
	if err != nil {
		return "", err
	}
	in := cloudformation.DescribeStackResourceInput{StackName: &stack, LogicalResourceId: aws.String(tokensTable)}
	out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &in)
	if err != nil {
		return "", fmt.Errorf("cannot find the table of tokens in stack %s: %w", stack, err)
	}
	return aws.ToString(out.StackResourceDetail.PhysicalResourceId), nil
}

// loadConfig returns the SDK's configuration. A local DynamoDB needs credentials too, but any will do, and the user may
// have none.
func loadConfig(ctx context.Context, local bool) (aws.Config, error) {
	httpClient := awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(httpClient), config.WithLogger(logging.Nop{})}
	if local {
		provider := credentials.NewStaticCredentialsProvider("local", "local", "")
		options = append(options, config.WithDefaultRegion("us-east-1"), config.WithCredentialsProvider(provider))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, err
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil { // the SDK's own error is about EC2
		return cfg, fmt.Errorf("no AWS credentials: set AWS_PROFILE to a profile that has them (%w)", err)
	}
	return cfg, nil
}

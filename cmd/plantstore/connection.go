package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go/logging"

	"plantstore/internal/dynamo"
)

const (
	timeout        = 10 * time.Second // for a call to AWS, including retries
	attemptTimeout = 3 * time.Second
	tokensTable    = "TokensTable" // logical id in template.yaml; under sam local, also the table's name
)

// connection holds the flags that select a tokens table. The SDK reads the region and the credentials from the
// environment, a profile or SSO.
type connection struct {
	Stack       string `xor:"table" help:"CloudFormation stack that has the tokens table."`
	Table       string `xor:"table" help:"Tokens table (default TokensTable if an endpoint is set)."`
	EndpointURL string `help:"DynamoDB endpoint to use instead of AWS's; without --stack, one with http:// needs no profile (default $$AWS_ENDPOINT_URL_DYNAMODB or $$AWS_ENDPOINT_URL)."`
}

func (c *connection) open(ctx context.Context) (*dynamo.Tokens, error) {
	c.EndpointURL = cmp.Or(c.EndpointURL, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	switch {
	case c.Stack == "" && c.Table == "" && c.EndpointURL == "":
		return nil, errors.New("set --stack or --table, or --endpoint-url for a local DynamoDB")
	case c.EndpointURL != "" && !c.isLocal() && !strings.HasPrefix(c.EndpointURL, "https://"):
		return nil, errors.New("the endpoint must be a URL such as http://localhost:8000")
	}
	c.Table = cmp.Or(c.Table, tokensTable)
	if c.Stack == "" && c.isLocal() { // needs no profile
		return &dynamo.Tokens{Client: dynamo.NewLocalClient(c.EndpointURL), Table: c.Table}, nil
	}
	cfg, err := loadConfig(ctx)
	if err != nil {
		return nil, err
	}
	table, err := c.findTable(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if c.EndpointURL != "" {
		cfg.BaseEndpoint = &c.EndpointURL
		cfg.ConfigSources = nil // otherwise an endpoint in the environment would win
	}
	return &dynamo.Tokens{Client: dynamo.NewClient(cfg), Table: table}, nil
}

// isLocal reports whether the endpoint is outside AWS, which uses https.
func (c *connection) isLocal() bool { return strings.HasPrefix(c.EndpointURL, "http://") }

// findTable returns the name of the tokens table.
func (c *connection) findTable(ctx context.Context, cfg aws.Config) (string, error) {
	if c.Stack == "" {
		return c.Table, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	in := cloudformation.DescribeStackResourceInput{StackName: &c.Stack, LogicalResourceId: aws.String(tokensTable)}
	out, err := cloudformation.NewFromConfig(cfg).DescribeStackResource(ctx, &in)
	if err != nil {
		return "", fmt.Errorf("cannot find the table of tokens in stack %s: %w", c.Stack, err)
	}
	return aws.ToString(out.StackResourceDetail.PhysicalResourceId), nil
}

// loadConfig returns the SDK's configuration, with credentials.
func loadConfig(ctx context.Context) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(attemptTimeout)),
		config.WithLogger(logging.Nop{}),
	)
	if _, ok := errors.AsType[config.AssumeRoleTokenProviderNotSetError](err); ok {
		return cfg, errors.New(`the profile needs an MFA code; first run: eval "$(aws configure export-credentials --format env)"`)
	}
	if err != nil {
		return cfg, err
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil { // the SDK's own error is about EC2
		return cfg, fmt.Errorf("cannot get AWS credentials; AWS_PROFILE must name a profile that has them: %w", err)
	}
	return cfg, nil
}

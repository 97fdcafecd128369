package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"

	"plantstore/internal/dynamo"
)

const (
	commandTimeout        = 10 * time.Second // for what a command does with a table, retries included
	commandAttemptTimeout = 3 * time.Second
)

// connection selects a DynamoDB: AWS's, with the region and credentials from the environment, the
// profile or SSO, or one at an endpoint.
type connection struct {
	EndpointURL string `name:"endpoint-url" env:"AWS_ENDPOINT_URL_DYNAMODB,AWS_ENDPOINT_URL" placeholder:"URL" help:"URL of a DynamoDB outside AWS, for example http://127.0.0.1:8000."`
}

// isLocal reports whether the DynamoDB is at an http endpoint on this machine: at a loopback address, at the
// name by which containers call the machine, or at a name without a dot, such as localhost or a container's.
func (c *connection) isLocal() bool {
	endpoint, err := url.Parse(c.EndpointURL)
	if err != nil || endpoint.Scheme != "http" {
		return false
	}
	host := endpoint.Hostname()
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	return host == "host.docker.internal" || !strings.Contains(host, ".")
}

// config returns the SDK's configuration. A local DynamoDB gets credentials of its own: it would accept most others, and
// refuse a key id with an underscore.
func (c *connection) config(ctx context.Context) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{}), config.WithHTTPClient(awshttp.NewBuildableClient())}
	if c.isLocal() {
		local := credentials.NewStaticCredentialsProvider("local", "local", "")
		options = append(options, config.WithDefaultRegion("us-east-1"), config.WithCredentialsProvider(local))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, err
	}
	if c.EndpointURL != "" {
		cfg.BaseEndpoint = &c.EndpointURL
		cfg.ConfigSources = nil // AWS_ENDPOINT_URL_DYNAMODB, or the setting that ignores endpoints, would replace the flag's URL
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil { // which speaks of EC2
		return cfg, fmt.Errorf("no AWS credentials: set AWS_PROFILE to a profile that has them (%w)", err)
	}
	return cfg, nil
}

// client returns a client whose attempts take at most timeout.
func (c *connection) client(ctx context.Context, timeout time.Duration) (*dynamodb.Client, error) {
	cfg, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	if client, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		cfg.HTTPClient = client.WithTimeout(timeout)
	}
	return dynamo.NewClient(cfg), nil
}

// explain returns the error of a command that used table, as its user should see it.
func (c *connection) explain(err error, table string) error {
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); !missing {
		return err
	}
	if c.isLocal() {
		return fmt.Errorf("the table does not exist: %s; `plantstore serve` creates it", table)
	}
	return fmt.Errorf("the table does not exist: %s", table)
}

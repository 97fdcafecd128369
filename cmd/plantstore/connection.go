package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
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
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
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
		// Otherwise AWS_ENDPOINT_URL_DYNAMODB, or the setting that ignores endpoints, would replace the flag's URL.
		cfg.ConfigSources = nil
	}
	if cfg.Region == "" {
		return cfg, errors.New("no AWS region: set AWS_REGION, or AWS_PROFILE to a profile that has one")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
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
	return dynamo.NewClient(cfg, timeout), nil
}

// explain returns err as a message for the user of a command that used table.
func (c *connection) explain(err error, table string) error {
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		if c.isLocal() {
			return fmt.Errorf("the table does not exist: %s; `plantstore serve` creates it", table)
		}
		return fmt.Errorf("the table does not exist: %s", table)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	// The SDK calls the error UnknownError if the answer is not DynamoDB's.
	refusal, refused := errors.AsType[smithy.APIError](err)
	if refused && refusal.ErrorCode() != "UnknownError" {
		return fmt.Errorf("DynamoDB answered %s: %s", printable(refusal.ErrorCode()), printable(refusal.ErrorMessage()))
	}
	if _, unreadable := errors.AsType[*smithy.DeserializationError](err); unreadable || refused {
		return fmt.Errorf("something other than DynamoDB answers %s", c.location())
	}
	if network, unreachable := errors.AsType[*net.OpError](err); unreachable {
		return fmt.Errorf("cannot reach DynamoDB %s: %w; is it running?", c.location(), network.Err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("DynamoDB %s timed out: is it running and reachable?", c.location())
	}
	return err
}

// location says in a message where the DynamoDB is.
func (c *connection) location() string {
	if c.EndpointURL == "" {
		return "in AWS"
	}
	return "at " + c.printableURL()
}

// printableURL returns the endpoint without a password.
func (c *connection) printableURL() string {
	endpoint, err := url.Parse(c.EndpointURL)
	if err != nil {
		return c.EndpointURL
	}
	return endpoint.Redacted()
}

// printable returns text, quoted if a terminal would not print all of it.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

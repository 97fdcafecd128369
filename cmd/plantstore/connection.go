package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"plantstore/internal/dynamo"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// operationTimeout is how long a command waits for DynamoDB.
const operationTimeout = 5 * time.Second

// connection says which DynamoDB to use: AWS's, with the region and credentials
// of the SDK's usual places (environment, profile, SSO), or one at an endpoint.
type connection struct {
	EndpointURL string `name:"endpoint-url" placeholder:"URL" env:"AWS_ENDPOINT_URL_DYNAMODB,AWS_ENDPOINT_URL" help:"DynamoDB to use instead of AWS's, such as http://127.0.0.1:8000."`
}

// config returns the SDK's configuration. A DynamoDB on this machine takes any
// credentials and any region, so it is given some where there are none.
func (c connection) config(ctx context.Context) (aws.Config, error) {
	if c.EndpointURL == "" {
		cfg, err := config.LoadDefaultConfig(ctx)
		if err == nil && cfg.Region == "" {
			err = errors.New("no AWS region: set AWS_REGION, or AWS_PROFILE to a profile that has one")
		}
		return cfg, err
	}
	endpoint, err := url.Parse(c.EndpointURL)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		return aws.Config{}, fmt.Errorf("--endpoint-url must be an http or https URL")
	}
	options := []func(*config.LoadOptions) error{config.WithBaseEndpoint(c.EndpointURL), config.WithDefaultRegion("us-east-1")}
	if isLoopback(endpoint.Hostname()) && os.Getenv("AWS_ACCESS_KEY_ID") == "" && os.Getenv("AWS_PROFILE") == "" {
		options = append(options, config.WithCredentialsProvider(aws.CredentialsProviderFunc(
			func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
			})))
	}
	return config.LoadDefaultConfig(ctx, options...)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

func (c connection) client(ctx context.Context) (*dynamodb.Client, error) {
	cfg, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	return dynamo.NewClient(cfg), nil
}

// explain returns err in the words of whoever typed the command. Table is the
// one that was used.
func (c connection) explain(err error, table string) error {
	if err == nil {
		return nil
	}
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return fmt.Errorf("there is no table %s there; in a local DynamoDB, `plantstore tables create` makes it", table)
	}
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Errorf("DynamoDB refused: %s: %s", refusal.ErrorCode(), refusal.ErrorMessage())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		where := "in AWS"
		if c.EndpointURL != "" {
			where = "at " + c.EndpointURL
		}
		return fmt.Errorf("DynamoDB %s did not answer within %v", where, operationTimeout)
	}
	return err
}

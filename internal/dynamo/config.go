package dynamo

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Config says which DynamoDB a Lambda function uses.
type Config struct {
	Region      string
	Credentials aws.Credentials

	// Endpoint is the URL of a DynamoDB that is not AWS's, or empty.
	Endpoint string
}

// NewFunctionClient returns a client for a Lambda function. It does without the
// SDK's config module, which looks for files and services that a function does
// not have, and trusts Amazon's roots alone where it can: see connect.go.
func NewFunctionClient(c Config) *dynamodb.Client {
	cfg := aws.Config{
		Region: c.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return c.Credentials, nil
		}),
	}
	if c.Endpoint != "" {
		cfg.BaseEndpoint = &c.Endpoint
	} else {
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.TLSClientConfig.RootCAs = trustedRoots(c.Region)
		})
	}
	return NewClient(cfg, AttemptTimeout)
}

// ParseEndpoint parses the URL of a DynamoDB that is not AWS's.
func ParseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("is not an http or https URL, such as http://127.0.0.1:8000")
	}
	return u, nil
}

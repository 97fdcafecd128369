package dynamo

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// FromEnvironment returns a client, and the table that tableVariable names, from
// the environment of a Lambda function: region, credentials and, for a DynamoDB
// that is not AWS's, AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL. It takes the
// place of the SDK's config module, which looks into files and services that a
// function does not have. An empty variable counts as unset. The error names the
// variable that is missing or malformed.
func FromEnvironment(getenv func(string) string, tableVariable string) (client *dynamodb.Client, table string, err error) {
	for _, name := range []string{tableVariable, "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if getenv(name) == "" {
			return nil, "", fmt.Errorf("environment variable %s is not set", name)
		}
	}
	endpoint, err := Endpoint(getenv)
	if err != nil {
		return nil, "", err
	}
	cfg := aws.Config{Region: getenv("AWS_REGION")}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	} else {
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.TLSClientConfig.RootCAs = rootsOf(cfg.Region)
		})
	}
	credentials := aws.Credentials{
		AccessKeyID:     getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
	}
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return credentials, nil
	})
	return NewClient(cfg), getenv(tableVariable), nil
}

// Endpoint returns the URL of a DynamoDB that is not AWS's, and "" where the
// environment names none.
func Endpoint(getenv func(string) string) (string, error) {
	for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"} {
		if endpoint := getenv(name); endpoint != "" {
			u, err := url.Parse(endpoint)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
				return "", fmt.Errorf("environment variable %s is not an http or https URL, such as http://127.0.0.1:8000", name)
			}
			return endpoint, nil
		}
	}
	return "", nil
}

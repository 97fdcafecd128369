// Package dynamo connects the functions to DynamoDB, and developers to DynamoDB Local.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
)

// attemptTimeout leaves time for a third attempt within a request if the first two hang.
const attemptTimeout = 1500 * time.Millisecond

var localCredentials = credentials.NewStaticCredentialsProvider("local", "local", "")

// Open returns what a function needs: a client that has already connected, and the table that a variable names.
func Open(ctx context.Context, tableVariable string) (client *dynamodb.Client, table string, err error) {
	if table = os.Getenv(tableVariable); table == "" {
		return nil, "", fmt.Errorf("the environment variable %s is not set", tableVariable)
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, "", err
	}
	client = New(cfg, http.DefaultTransport)
	connect(ctx, client.Options())
	return client, table, nil
}

// New returns a client for a function. It repeats what failed for as long as a request's time lasts, so whatever it does
// must be repeatable.
func New(cfg aws.Config, transport http.RoundTripper) *dynamodb.Client {
	cfg.HTTPClient = &http.Client{Transport: transport, Timeout: attemptTimeout}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 10 // more than fit into the time, even if each fails at once
		o.APIOptions = append(o.APIOptions, logFailedAttempts)
		o.Logger = logging.Nop{} // otherwise the SDK would print a false warning whenever an id is taken

		// sam local hands on the developer's credentials, but must not reach AWS.
		if os.Getenv("AWS_SAM_LOCAL") == "true" {
			o.Credentials = localCredentials
			if o.BaseEndpoint == nil {
				o.BaseEndpoint = aws.String("http://host.docker.internal:8000")
			}
		}
	})
}

// logFailedAttempts logs why an attempt failed. The error that the SDK returns at the deadline does not say it.
func logFailedAttempts(stack *middleware.Stack) error {
	log := func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleFinalize(ctx, in)
		if _, isAnswer := errors.AsType[*types.ConditionalCheckFailedException](err); err != nil && !isAnswer {
			slog.WarnContext(ctx, "DynamoDB failed", "cause", err.Error())
		}
		return out, metadata, err
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("LogFailedAttempts", log), "Retry", middleware.After)
}

// connect opens a connection before the first event, while Lambda still gives the function a whole CPU. It sends a GET
// without credentials. An error does not matter, because the first request will see it too.
func connect(ctx context.Context, o dynamodb.Options) {
	endpoint, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: &o.Region, Endpoint: o.BaseEndpoint,
	})
	if err != nil {
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint.URI.String(), nil)
	if err != nil {
		return
	}
	if response, err := o.HTTPClient.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, response.Body) // otherwise the connection would not be used again
		_ = response.Body.Close()
	}
}

// NewLocal returns a client for DynamoDB Local, which may be slow and takes any credentials.
func NewLocal(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{BaseEndpoint: &endpoint, Region: "us-east-1", Credentials: localCredentials})
}

// CreateTable creates a table in DynamoDB Local. In AWS, template.yaml does that.
func CreateTable(ctx context.Context, client *dynamodb.Client, name, key string, kind types.ScalarAttributeType) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: kind}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
	})
	return err
}

package dynamo

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// NewLocalClient returns a client for a local DynamoDB. It does not have a function's timeouts, because a busy machine can
// be slow.
func NewLocalClient(endpoint string) *Client {
	return NewClient(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &endpoint,
		HTTPClient:   http.DefaultClient,
	})
}

// CreateTables creates the plants and tokens tables in a local DynamoDB. In AWS, template.yaml does that.
func CreateTables(ctx context.Context, client *Client, plants, tokens string) error {
	return errors.Join(
		createTable(ctx, client, plants, types.ScalarAttributeTypeN),
		createTable(ctx, client, tokens, types.ScalarAttributeTypeS),
	)
}

func createTable(ctx context.Context, client *Client, name string, key types.ScalarAttributeType) error {
	_, err := client.api.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: key}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	return err
}

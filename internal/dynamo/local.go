package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"
)

var localCredentials = credentials.NewStaticCredentialsProvider("local", "local", "")

// useLocal keeps a function under sam local away from AWS, whatever credentials of the developer's sam local hands on.
func useLocal(o *dynamodb.Options) {
	o.Credentials = localCredentials
	if o.BaseEndpoint == nil {
		o.BaseEndpoint = aws.String("http://host.docker.internal:8000")
	}
}

// NewLocal returns a client for DynamoDB Local, which may be slow and takes any credentials.
func NewLocal(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &endpoint,
		Region:       "us-east-1",
		Credentials:  localCredentials,
		Logger:       logging.Nop{},
	})
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

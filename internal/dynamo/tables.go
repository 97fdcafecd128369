package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTables creates the two tables where they do not exist yet. It is for a
// local DynamoDB: in AWS, template.yaml creates them, with backups, protection
// and the removal of expired tokens.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	if err := createTable(ctx, client, plants, "id", types.ScalarAttributeTypeN); err != nil {
		return err
	}
	return createTable(ctx, client, tokens, "digest", types.ScalarAttributeTypeS)
}

func createTable(ctx context.Context, client *dynamodb.Client, name, key string, keyType types.ScalarAttributeType) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &key, AttributeType: keyType}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
	})
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("dynamo: create table %s: %w", name, err)
	}
	return nil
}

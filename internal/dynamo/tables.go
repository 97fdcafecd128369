package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The keys of the tables.
var (
	plantsKey = types.AttributeDefinition{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeN}
	tokensKey = types.AttributeDefinition{AttributeName: aws.String("digest"), AttributeType: types.ScalarAttributeTypeS}
)

// CreateTables creates the two tables, unless they exist. It is for a local
// DynamoDB: in AWS, template.yaml creates them, with backups, protection and the
// removal of expired tokens. The error is a [TableError] if a table of that name
// is another kind of table.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	if err := createTable(ctx, client, plants, plantsKey); err != nil {
		return err
	}
	if err := createTable(ctx, client, tokens, tokensKey); err != nil {
		return err
	}
	return CheckTables(ctx, client, plants, tokens)
}

// CheckTables returns a [TableError] if one of the two tables does not exist, or
// has another key.
func CheckTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	if err := checkTable(ctx, client, plants, plantsKey); err != nil {
		return err
	}
	return checkTable(ctx, client, tokens, tokensKey)
}

// A TableError says what is wrong with a table.
type TableError struct {
	Table   string
	Problem string // "does not exist"
}

func (e *TableError) Error() string { return "table " + e.Table + " " + e.Problem }

func checkTable(ctx context.Context, client *dynamodb.Client, name string, key types.AttributeDefinition) error {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return &TableError{name, "does not exist"}
	}
	if err != nil {
		return fmt.Errorf("dynamo: describe table %s: %w", name, err)
	}
	for _, attribute := range out.Table.AttributeDefinitions {
		if *attribute.AttributeName == *key.AttributeName && attribute.AttributeType == key.AttributeType {
			return nil
		}
	}
	return &TableError{name, fmt.Sprintf("does not have the key %s (%s): is it the other table?", *key.AttributeName, key.AttributeType)}
}

func createTable(ctx context.Context, client *dynamodb.Client, name string, key types.AttributeDefinition) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{key},
		KeySchema:            []types.KeySchemaElement{{AttributeName: key.AttributeName, KeyType: types.KeyTypeHash}},
	})
	var exists *types.ResourceInUseException
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("dynamo: create table %s: %w", name, err)
	}
	return nil
}

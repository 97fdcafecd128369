package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrNoTable means that a table does not exist.
var ErrNoTable = errors.New("the table does not exist")

type table struct {
	name, key string
	keyType   types.ScalarAttributeType
}

func tables(plants, tokens string) []table {
	return []table{{plants, "id", types.ScalarAttributeTypeN}, {tokens, "digest", types.ScalarAttributeTypeS}}
}

// CreateTables creates the two tables in a local DynamoDB, unless they exist, and checks them. In AWS,
// template.yaml creates them, with backups, protection and the removal of expired tokens.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range tables(plants, tokens) {
		_, err := call(ctx, client.CreateTable, &dynamodb.CreateTableInput{
			TableName:            &t.name,
			BillingMode:          types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &t.key, AttributeType: t.keyType}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: &t.key, KeyType: types.KeyTypeHash}},
		})
		if err != nil && !causedBy[*types.ResourceInUseException](err) {
			return err
		}
	}
	return CheckTables(ctx, client, plants, tokens)
}

// CheckTables returns [ErrNoTable] if a table does not exist, and another error if it has another key.
func CheckTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range tables(plants, tokens) {
		in := &dynamodb.DescribeTableInput{TableName: &t.name}
		out, err := call(ctx, client.DescribeTable, in)
		switch {
		case causedBy[*types.ResourceNotFoundException](err):
			return fmt.Errorf("%w: %s", ErrNoTable, t.name)
		case err != nil:
			return err
		case aws.ToString(out.Table.KeySchema[0].AttributeName) != t.key:
			return fmt.Errorf("table %s does not have the key %s: is it the other table?", t.name, t.key)
		}
	}
	return nil
}

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ErrNoTable means that a table does not exist.
var ErrNoTable = errors.New("the table does not exist")

// Table is a table and its key.
type Table struct {
	Name    string
	Key     string
	KeyType types.ScalarAttributeType
}

// Tables returns the tables of plants and of tokens, with these names. template.yaml describes both too.
func Tables(plants, tokens string) []Table {
	return []Table{
		{Name: plants, Key: plantKey, KeyType: plantKeyType},
		{Name: tokens, Key: tokenKey, KeyType: tokenKeyType},
	}
}

// CreateTables creates the two tables in a local DynamoDB, unless they exist, and checks them. In AWS,
// template.yaml creates them, with backups, protection and the removal of expired tokens.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range Tables(plants, tokens) {
		_, err := call(ctx, client, (*dynamodb.Client).CreateTable, &dynamodb.CreateTableInput{
			TableName:            &t.Name,
			BillingMode:          types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &t.Key, AttributeType: t.KeyType}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: &t.Key, KeyType: types.KeyTypeHash}},
		})
		if err != nil && !causedBy[*types.ResourceInUseException](err) {
			return err
		}
	}
	return CheckTables(ctx, client, plants, tokens)
}

// CheckTables returns [ErrNoTable] if a table does not exist, and another error if it has another key.
func CheckTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range Tables(plants, tokens) {
		in := &dynamodb.DescribeTableInput{TableName: &t.Name}
		out, err := call(ctx, client, (*dynamodb.Client).DescribeTable, in)
		if causedBy[*types.ResourceNotFoundException](err) {
			return fmt.Errorf("%w: %s", ErrNoTable, t.Name)
		}
		if err != nil {
			return err
		}
		if !hasKey(out.Table, t) {
			return fmt.Errorf("table %s does not have the key %s of type %s: is it another table?", t.Name, t.Key, t.KeyType)
		}
	}
	return nil
}

// hasKey reports whether a table has the key of want, and no sort key.
func hasKey(t *types.TableDescription, want Table) bool {
	if len(t.KeySchema) != 1 || aws.ToString(t.KeySchema[0].AttributeName) != want.Key {
		return false
	}
	return slices.ContainsFunc(t.AttributeDefinitions, func(a types.AttributeDefinition) bool {
		return aws.ToString(a.AttributeName) == want.Key && a.AttributeType == want.KeyType
	})
}

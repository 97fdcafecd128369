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

// Key is the key of a table.
type Key struct {
	Name string
	Type types.ScalarAttributeType
}

// Keys returns the keys of the two tables, which template.yaml has too.
func Keys() (plants, tokens Key) { return plantKey, tokenKey }

type table struct {
	name string
	key  Key
}

func tables(plants, tokens string) []table {
	return []table{{name: plants, key: plantKey}, {name: tokens, key: tokenKey}}
}

// CreateTables creates the two tables in a local DynamoDB, unless they exist, and checks them. In AWS,
// template.yaml creates them, with backups, protection and the removal of expired tokens.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range tables(plants, tokens) {
		_, err := call(ctx, client, (*dynamodb.Client).CreateTable, &dynamodb.CreateTableInput{
			TableName:            &t.name,
			BillingMode:          types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &t.key.Name, AttributeType: t.key.Type}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: &t.key.Name, KeyType: types.KeyTypeHash}},
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
		out, err := call(ctx, client, (*dynamodb.Client).DescribeTable, in)
		if causedBy[*types.ResourceNotFoundException](err) {
			return fmt.Errorf("%w: %s", ErrNoTable, t.name)
		}
		if err != nil {
			return err
		}
		if !hasKey(out.Table, t.key) {
			return fmt.Errorf("table %s does not have the key %s of type %s: is it another table?", t.name, t.key.Name, t.key.Type)
		}
	}
	return nil
}

// hasKey reports whether a table has this key, and no sort key.
func hasKey(t *types.TableDescription, key Key) bool {
	if len(t.KeySchema) != 1 || aws.ToString(t.KeySchema[0].AttributeName) != key.Name {
		return false
	}
	return slices.ContainsFunc(t.AttributeDefinitions, func(a types.AttributeDefinition) bool {
		return aws.ToString(a.AttributeName) == key.Name && a.AttributeType == key.Type
	})
}

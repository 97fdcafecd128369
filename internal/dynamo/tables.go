package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The names of the tables in a local DynamoDB, which `sam local` passes for a !Ref of template.yaml.
const (
	LocalPlantsTable = "PlantsTable"
	LocalTokensTable = "TokensTable"
)

// Table is a table and its key.
type Table struct {
	Name    string
	Key     string
	KeyType types.ScalarAttributeType
}

// Tables returns the tables of plants and of tokens, with these names. template.yaml describes both too.
func Tables(plants, tokens string) []Table {
	return []Table{
		{Name: plants, Key: "id", KeyType: types.ScalarAttributeTypeN},
		{Name: tokens, Key: "id", KeyType: types.ScalarAttributeTypeS},
	}
}

// CreateTables creates the two tables in a local DynamoDB, unless they exist.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range Tables(plants, tokens) {
		_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName:            &t.Name,
			BillingMode:          types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &t.Key, AttributeType: t.KeyType}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: &t.Key, KeyType: types.KeyTypeHash}},
		})
		if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
			return err
		}
	}
	return nil
}

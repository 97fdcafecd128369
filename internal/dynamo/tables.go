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

// A table has the key id.
type table struct {
	name   string
	idType types.ScalarAttributeType
}

func tables(plants, tokens string) []table {
	return []table{
		{name: plants, idType: types.ScalarAttributeTypeN},
		{name: tokens, idType: types.ScalarAttributeTypeS},
	}
}

// CreateTables creates the two tables in a local DynamoDB, unless they exist, and checks them. In AWS,
// template.yaml creates them, with backups, protection and the removal of expired tokens.
func CreateTables(ctx context.Context, client *dynamodb.Client, plants, tokens string) error {
	for _, t := range tables(plants, tokens) {
		_, err := call(ctx, client.CreateTable, &dynamodb.CreateTableInput{
			TableName:            &t.name,
			BillingMode:          types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: t.idType}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
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
		if causedBy[*types.ResourceNotFoundException](err) {
			return fmt.Errorf("%w: %s", ErrNoTable, t.name)
		}
		if err != nil {
			return err
		}
		if !hasKey(out.Table, t.idType) {
			return fmt.Errorf("table %s does not have the key id of type %s: is it another table?", t.name, t.idType)
		}
	}
	return nil
}

// hasKey reports whether the key of a table is id, of this type.
func hasKey(t *types.TableDescription, idType types.ScalarAttributeType) bool {
	if aws.ToString(t.KeySchema[0].AttributeName) != "id" {
		return false
	}
	return slices.ContainsFunc(t.AttributeDefinitions, func(a types.AttributeDefinition) bool {
		return aws.ToString(a.AttributeName) == "id" && a.AttributeType == idType
	})
}

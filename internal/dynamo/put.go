package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type attributes = map[string]types.AttributeValue

func equal(a, b attributes, names ...string) bool {
	for _, name := range names {
		if !reflect.DeepEqual(a[name], b[name]) {
			return false
		}
	}
	return true
}

// put stores an item and returns nil, or returns the item that is already stored under its id, perhaps by an earlier
// attempt.
func (c *Client) put(
	ctx context.Context, table string, item attributes, unavailable error,
) (existing attributes, err error) {
	in := &dynamodb.PutItemInput{
		TableName:                           &table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err = withRetries(ctx, c.retryer, unavailable, func() (*dynamodb.PutItemOutput, error) {
		return c.api.PutItem(ctx, in)
	})
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, err
	}
	if len(failed.Item) == 0 { // another implementation of DynamoDB's API may leave it out
		return nil, fmt.Errorf("%w: the id exists, and its item was not returned", unavailable)
	}
	return failed.Item, nil
}

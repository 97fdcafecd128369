package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// equal reports whether two items have the same values of these attributes.
func equal(a, b item, names ...string) bool {
	for _, name := range names {
		if !reflect.DeepEqual(a[name], b[name]) {
			return false
		}
	}
	return true
}

// put stores an item, unless the table has one with its id. In that case it returns the existing item, which may be from
// an earlier attempt.
func put(ctx context.Context, c *dynamodb.Client, table string, i item, unavailable error) (existing item, err error) {
	_, err = call(ctx, c, (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{
		TableName:                           &table,
		Item:                                i,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, unavailable)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, err
	}
	if len(failed.Item) == 0 { // another server of DynamoDB's API may leave it out
		return nil, fmt.Errorf("%w: the id exists, and its item was not returned", unavailable)
	}
	return failed.Item, nil
}

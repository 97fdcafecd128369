package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

// decode reads the attributes that T names. Package attributevalue alone would also take Revoked for revoked.
func decode[T any](i item) (stored T, err error) {
	named := item{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if value, ok := i[name]; ok {
			named[name] = value
		}
	}
	err = attributevalue.UnmarshalMap(named, &stored)
	return stored, err
}

// put stores an item, unless the table has one with its id. It returns that one, which an earlier attempt may have
// stored.
func put(ctx context.Context, c *dynamodb.Client, table string, i item, unavailable error) (existing item, err error) {
	_, err = call(ctx, c.PutItem, &dynamodb.PutItemInput{
		TableName:                           &table,
		Item:                                i,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, unavailable)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, err
	}
	if len(failed.Item) == 0 { // DynamoDB returns it, another server of its API may not
		return nil, fmt.Errorf("%w: the id exists, and its item was not returned", unavailable)
	}
	return failed.Item, nil
}

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/plant"
)

// PlantStore is a [plant.Store] in a DynamoDB table.
type PlantStore struct {
	Client *dynamodb.Client
	Table  string
}

var _ plant.Store = (*PlantStore)(nil)

// Create implements [plant.Store]. It is one conditional put, repeated until its outcome is known. If
// the condition fails, DynamoDB returns the stored item, whose write key is that of its request.
func (s *PlantStore) Create(ctx context.Context, w plant.Write) error {
	item := map[string]types.AttributeValue{
		"id":         &types.AttributeValueMemberN{Value: strconv.FormatInt(w.Plant.ID, 10)},
		"name":       text(w.Plant.Name),
		"created_at": text(w.At.UTC().Format(time.RFC3339Nano)),
		"created_by": text(w.By), // a token's subject
		"write_key":  text(w.Key),
	}
	if w.Plant.Tag != nil {
		item["tag"] = text(*w.Plant.Tag)
	}
	_, err := call(ctx, s.Client.PutItem, &dynamodb.PutItemInput{
		TableName:                           &s.Table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, plant.ErrOutcomeUnknown, plant.ErrUnavailable)
	if exists, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return compare(item, exists.Item)
	}
	return err
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// compare returns the outcome of a put, given the item that is stored under its id.
func compare(sent, stored map[string]types.AttributeValue) error {
	if len(stored) == 0 {
		return fmt.Errorf("%w: the id exists, and DynamoDB did not return its item", plant.ErrOutcomeUnknown)
	}
	if !reflect.DeepEqual(sent["write_key"], stored["write_key"]) {
		return plant.ErrExists
	}
	for _, name := range []string{"name", "tag"} { // what the client sent, besides the id
		if !reflect.DeepEqual(sent[name], stored[name]) {
			return plant.ErrKeyReused
		}
	}
	return nil
}

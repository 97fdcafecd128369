package dynamo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
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

// plantItem is a plant as the table holds it.
type plantItem struct {
	ID        int64     `dynamodbav:"id"`
	Name      string    `dynamodbav:"name"`
	Tag       *string   `dynamodbav:"tag,omitempty"`
	CreatedAt time.Time `dynamodbav:"created_at"` // RFC 3339, UTC
	CreatedBy string    `dynamodbav:"created_by"` // a token's subject
	WriteKey  string    `dynamodbav:"write_key"`  // hexadecimal
}

// Create implements [plant.Store]. It is one conditional put, repeated until
// its outcome is known. When the condition fails, DynamoDB returns the stored
// item, whose write key tells an earlier attempt of this request from another
// request.
func (s *PlantStore) Create(ctx context.Context, w plant.Write) error {
	item, err := attributevalue.MarshalMap(plantItem{
		ID:        w.Plant.ID,
		Name:      w.Plant.Name,
		Tag:       w.Plant.Tag,
		CreatedAt: w.At.UTC(),
		CreatedBy: w.By,
		WriteKey:  w.Key.String(),
	})
	if err != nil {
		return fmt.Errorf("dynamo: encode plant: %w", err)
	}
	a := new(attempts)
	_, err = s.Client.PutItem(a.watch(ctx), &dynamodb.PutItemInput{
		TableName:                           &s.Table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, a.option)
	if err == nil {
		return nil
	}
	var exists *types.ConditionalCheckFailedException
	if errors.As(err, &exists) {
		return compare(item, exists.Item)
	}
	return a.outcome(ctx, "put plant", err, plant.ErrOutcomeUnknown, plant.ErrUnavailable)
}

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

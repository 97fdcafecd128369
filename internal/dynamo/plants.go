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

// Plants is a [plant.Store] in a DynamoDB table.
type Plants struct {
	Client *dynamodb.Client
	Table  string
}

var _ plant.Store = (*Plants)(nil)

const plantKey = "id" // the name of the table's key

// plantItem is a plant as the table holds it.
type plantItem struct {
	ID int64 `dynamodbav:"id"` // the key
	plantAttributes
	CreatedAt time.Time `dynamodbav:"created_at"` // RFC 3339, UTC
	CreatedBy string    `dynamodbav:"created_by"` // subject of the request's token
	WriteKey  string    `dynamodbav:"write_key"`
}

// plantAttributes has the fields of [plant.Plant], and converts to and from it.
type plantAttributes struct {
	Name string  `dynamodbav:"name"`
	Tag  *string `dynamodbav:"tag,omitempty"` // no attribute if it is nil; a pointer to "" is stored
}

// Create implements [plant.Store]. It is one conditional put, which [call] attempts until the outcome is known. If
// the condition fails, DynamoDB returns the stored item, with the write key of the request that created it.
func (s *Plants) Create(ctx context.Context, w plant.Write) error {
	attributes, err := attributevalue.MarshalMap(plantItem{
		ID:              w.NewPlant.ID,
		plantAttributes: plantAttributes(w.NewPlant.Plant),
		CreatedAt:       w.Time.UTC(),
		CreatedBy:       w.Subject,
		WriteKey:        w.WriteKey,
	})
	if err != nil {
		return fmt.Errorf("dynamo: encode plant: %w", err)
	}
	_, err = call(ctx, s.Client, (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{
		TableName:                           &s.Table,
		Item:                                attributes,
		ConditionExpression:                 aws.String("attribute_not_exists(" + plantKey + ")"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	// A failed condition ends the call: it is a refusal for good, and becomes the cause of the call's error. It is also
	// the outcome of an earlier attempt whose answer was lost: the item shows whether that one stored it.
	if conditionFailed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return checkExistingPlant(w, conditionFailed.Item)
	}
	return translate(err, plant.ErrOutcomeUnknown, plant.ErrUnavailable)
}

// checkExistingPlant returns the outcome of w if its id has the item with these attributes. DynamoDB returns them.
// Another server of its API may return none.
func checkExistingPlant(w plant.Write, attributes map[string]types.AttributeValue) error {
	if len(attributes) == 0 {
		return fmt.Errorf("%w: the id exists, and DynamoDB did not return its item", plant.ErrOutcomeUnknown)
	}
	var stored plantItem
	err := unmarshal(attributes, &stored)
	switch {
	case err != nil, stored.WriteKey != w.WriteKey: // another program, or another request, wrote it
		return plant.ErrExists
	case !reflect.DeepEqual(plant.Plant(stored.plantAttributes), w.NewPlant.Plant):
		return plant.ErrKeyReused
	}
	return nil
}

package plants

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Store keeps one plant for each id, for good.
type Store interface {
	// LoadOrStore stores plant if its id is free, and returns the plant that has the id then: this one, or an earlier one,
	// which may be the same. After an error, plant may have been stored, and LoadOrStore may be called again.
	LoadOrStore(ctx context.Context, plant NewPlant, subject string) (holder NewPlant, err error)
}

// Memory is a [Store] for a developer's machine. Its zero value is empty.
type Memory struct{ plants sync.Map }

// LoadOrStore implements [Store].
func (m *Memory) LoadOrStore(_ context.Context, plant NewPlant, _ string) (holder NewPlant, err error) {
	value, _ := m.plants.LoadOrStore(plant.ID, plant)
	return value.(NewPlant), nil
}

// Table is a [Store] in a DynamoDB table whose key is the number "id".
type Table struct {
	Client *dynamodb.Client
	Name   string
}

// item is a plant as the table keeps it. Other programs may read these attributes.
type item struct {
	NewPlant
	CreatedAt time.Time `dynamodbav:"created_at"` // RFC 3339, in UTC
	CreatedBy string    `dynamodbav:"created_by"` // the subject of the token
}

// LoadOrStore is one conditional put. If the id is taken, DynamoDB sends the plant that has it along, so no second call
// has to tell a repeated request from a conflict. That also covers a put that the SDK repeats because its answer got lost.
func (t Table) LoadOrStore(ctx context.Context, plant NewPlant, subject string) (holder NewPlant, err error) {
	attributes, err := attributevalue.MarshalMap(item{
		NewPlant: plant, CreatedAt: time.Now().UTC().Truncate(time.Second), CreatedBy: subject,
	})
	if err != nil {
		return NewPlant{}, err
	}
	_, err = t.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           &t.Name,
		Item:                                attributes,
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if taken, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		held, err := parseItem(taken.Item)
		return NewPlant{ID: plant.ID, Plant: held}, err
	}
	return plant, err
}

// parseItem returns the plant in an item. It takes only attributes of exactly these names and types, where package
// attributevalue would take TAG for tag, and a number for a string.
func parseItem(item map[string]types.AttributeValue) (plant Plant, err error) {
	name, ok := item["name"].(*types.AttributeValueMemberS)
	if !ok {
		return Plant{}, errors.New("the id is taken, but DynamoDB returned no plant that has it")
	}
	plant.Name = name.Value
	switch tag := item["tag"].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		plant.Tag = &tag.Value
	default:
		return Plant{}, errors.New("the id is taken by a plant whose tag is no string")
	}
	return plant, nil
}

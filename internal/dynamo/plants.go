package dynamo

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/plant"
)

// Plants is a [plant.Store] in a DynamoDB table.
type Plants struct {
	Client *dynamodb.Client
	Table  string
}

var _ plant.Store = (*Plants)(nil)

// plantItem is a plant as the table holds it. Other programs read it.
type plantItem struct {
	ID int64 `dynamodbav:"id"`
	plantAttributes
	CreatedAt time.Time `dynamodbav:"created_at"` // RFC 3339, UTC
	CreatedBy string    `dynamodbav:"created_by"` // subject of the request's token
	WriteKey  string    `dynamodbav:"write_key"`
}

// plantAttributes has the fields of [plant.Plant].
type plantAttributes struct {
	Name string  `dynamodbav:"name"`
	Tag  *string `dynamodbav:"tag,omitempty"` // a pointer to "" is stored
}

// Create implements [plant.Store].
func (s *Plants) Create(ctx context.Context, w plant.Write) error {
	i, err := attributevalue.MarshalMap(plantItem{
		ID:              w.NewPlant.ID,
		plantAttributes: plantAttributes(w.NewPlant.Plant),
		CreatedAt:       w.Time.UTC(),
		CreatedBy:       w.Subject,
		WriteKey:        w.WriteKey,
	})
	if err != nil {
		return fmt.Errorf("dynamo: encode plant: %w", err)
	}
	existing, err := put(ctx, s.Client, s.Table, i, plant.ErrUnavailable)
	if existing != nil {
		return checkExistingPlant(w, existing)
	}
	return err
}

func checkExistingPlant(w plant.Write, existing item) error {
	stored, err := decode[struct {
		plantAttributes
		WriteKey string `dynamodbav:"write_key"`
	}](existing)
	switch {
	case err != nil, stored.WriteKey != w.WriteKey: // another program, or another request, wrote it
		return plant.ErrExists
	case !reflect.DeepEqual(plant.Plant(stored.plantAttributes), w.NewPlant.Plant):
		return plant.ErrKeyReused
	}
	return nil // an earlier attempt stored it
}

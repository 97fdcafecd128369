package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"plantstore/internal/plant"
)

// Plants is a [plant.Store] in a DynamoDB table.
type Plants struct {
	Client *Client
	Table  string
}

var _ plant.Store = (*Plants)(nil)

// plantItem is a plant as the table stores it. The attribute names must not change.
type plantItem struct {
	ID int64 `dynamodbav:"id"`
	plantAttributes
	CreatedAt time.Time `dynamodbav:"created_at"` // RFC 3339, in UTC
	CreatedBy string    `dynamodbav:"created_by"` // the subject of the token
	WriteKey  string    `dynamodbav:"write_key"`
}

// plantAttributes has the fields of [plant.Plant], which converts to it.
type plantAttributes struct {
	Name string  `dynamodbav:"name"`
	Tag  *string `dynamodbav:"tag,omitempty"` // an empty tag is stored
}

// Create implements [plant.Store].
func (s *Plants) Create(ctx context.Context, w plant.Write) error {
	item, err := attributevalue.MarshalMap(plantItem{
		ID:              w.NewPlant.ID,
		plantAttributes: plantAttributes(w.NewPlant.Plant),
		CreatedAt:       w.Time.UTC(),
		CreatedBy:       w.Subject,
		WriteKey:        w.WriteKey,
	})
	if err != nil {
		return err
	}
	existing, err := s.Client.put(ctx, s.Table, item, plant.ErrUnavailable)
	if err != nil || existing == nil {
		return err
	}
	switch {
	case !equal(existing, item, "write_key"):
		return plant.ErrExists
	case !equal(existing, item, "name", "tag"):
		return plant.ErrKeyReused
	}
	return nil // an earlier attempt stored it
}

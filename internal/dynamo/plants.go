package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/plant"
)

// Plants is a [plant.Store] in a DynamoDB table.
type Plants struct {
	Client *dynamodb.Client
	Table  string
}

var _ plant.Store = (*Plants)(nil)

// Create implements [plant.Store].
func (s *Plants) Create(ctx context.Context, w plant.Write) error {
	i := newPlantItem(w)
	existing, err := put(ctx, s.Client, s.Table, i, plant.ErrUnavailable)
	switch {
	case existing == nil:
		return err
	case !equal(existing, i, "write_key"):
		return plant.ErrExists
	case !equal(existing, i, "name", "tag"):
		return plant.ErrKeyReused
	}
	return nil // an earlier attempt stored it
}

// newPlantItem returns a plant as the table holds it. Other programs read these attributes.
func newPlantItem(w plant.Write) item {
	i := item{
		"id":         number(w.NewPlant.ID),
		"name":       text(w.NewPlant.Name),
		"created_at": text(w.Time.UTC().Format(time.RFC3339Nano)),
		"created_by": text(w.Subject),
		"write_key":  text(w.WriteKey),
	}
	if w.NewPlant.Tag != nil {
		i["tag"] = text(*w.NewPlant.Tag)
	}
	return i
}

// Package memory stores plants and tokens in memory, until the process ends. With
// it a developer runs the service without an AWS account, and tests have a real
// store. It passes the same tests as package dynamo: see test/storetest.
package memory

import (
	"context"
	"fmt"
	"sync"

	"plantstore/internal/plant"
)

// PlantStore is a [plant.Store]. Its zero value is empty and ready for use.
type PlantStore struct {
	writes sync.Map // the first plant.Write by id
}

var _ plant.Store = (*PlantStore)(nil)

// Create implements [plant.Store].
func (s *PlantStore) Create(ctx context.Context, w plant.Write) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", plant.ErrUnavailable, err)
	}
	stored, _ := s.writes.LoadOrStore(w.Plant.ID, w)
	switch first := stored.(plant.Write); {
	case first.Key != w.Key:
		return plant.ErrExists
	case !first.Plant.Equal(w.Plant):
		return plant.ErrKeyReused
	}
	return nil
}

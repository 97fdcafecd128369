// Package memory keeps plants and tokens in memory, for local use and tests.
package memory

import (
	"context"
	"reflect"
	"sync"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Plants is a [plant.Store]. Its zero value is empty.
type Plants struct {
	writes sync.Map // maps an id to the first plant.Write
}

var _ plant.Store = (*Plants)(nil)

// Create implements [plant.Store].
func (s *Plants) Create(_ context.Context, w plant.Write) error {
	stored, _ := s.writes.LoadOrStore(w.NewPlant.ID, w)
	first := stored.(plant.Write)
	switch {
	case first.WriteKey != w.WriteKey:
		return plant.ErrExists
	case !reflect.DeepEqual(first.NewPlant, w.NewPlant):
		return plant.ErrKeyReused
	}
	return nil
}

// Tokens is a [token.Store]. Its keys are the token ids.
type Tokens map[string]token.Token

var _ token.Store = Tokens(nil)

// Find implements [token.Store].
func (s Tokens) Find(_ context.Context, id string) (token.Token, error) {
	t, ok := s[id]
	if !ok {
		return token.Token{}, token.ErrNotFound
	}
	return t, nil
}

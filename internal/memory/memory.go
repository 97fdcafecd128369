// Package memory stores plants and tokens in memory, for local runs and tests.
package memory

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Plants is a [plant.Store]. Its zero value is empty.
type Plants struct {
	writes sync.Map // the first plant.Write by id
}

var _ plant.Store = (*Plants)(nil)

// Create implements [plant.Store].
func (s *Plants) Create(_ context.Context, w plant.Write) error {
	stored, _ := s.writes.LoadOrStore(w.NewPlant.ID, w)
	switch first := stored.(plant.Write); {
	case first.WriteKey != w.WriteKey:
		return plant.ErrExists
	case !reflect.DeepEqual(first.NewPlant, w.NewPlant):
		return plant.ErrKeyReused
	}
	return nil
}

// Tokens is a [token.Store]. Its zero value is empty.
type Tokens struct {
	tokens sync.Map // token.Token by id
}

var _ token.Store = (*Tokens)(nil)

// Find implements [token.Store].
func (s *Tokens) Find(_ context.Context, id string) (token.Token, error) {
	stored, ok := s.tokens.Load(id)
	if !ok {
		return token.Token{}, token.ErrNotFound
	}
	return stored.(token.Token), nil
}

// Add implements [token.Store].
func (s *Tokens) Add(_ context.Context, t token.Token) error {
	value, _ := s.tokens.LoadOrStore(t.ID, t)
	stored := value.(token.Token)
	stored.Revoked = t.Revoked
	if stored != t {
		return errors.New("memory: another token has this id")
	}
	return nil
}

// Revoke implements [token.Store].
func (s *Tokens) Revoke(ctx context.Context, id string) error {
	t, err := s.Find(ctx, id)
	if err != nil {
		return err
	}
	t.Revoked = true
	s.tokens.Store(id, t)
	return nil
}

package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plantstore/internal/token"
)

// TokenStore is a [token.Store]. Its zero value is empty and ready for use.
type TokenStore struct {
	mu     sync.Mutex
	tokens map[string]token.Token // by digest
}

var _ token.Store = (*TokenStore)(nil)

// Find implements [token.Finder].
func (s *TokenStore) Find(ctx context.Context, digest string) (token.Token, error) {
	if err := available(ctx); err != nil {
		return token.Token{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tokens[digest]
	if !ok {
		return token.Token{}, token.ErrNotFound
	}
	return t, nil
}

// Add implements [token.Store].
func (s *TokenStore) Add(ctx context.Context, t token.Token) error {
	if err := available(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored, exists := s.tokens[t.Digest]; exists {
		stored.Revoked = t.Revoked
		if stored != t {
			return errors.New("memory: another token has this digest")
		}
		return nil
	}
	if s.tokens == nil {
		s.tokens = make(map[string]token.Token)
	}
	s.tokens[t.Digest] = t
	return nil
}

// Revoke implements [token.Store].
func (s *TokenStore) Revoke(ctx context.Context, digest string) error {
	if err := available(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, exists := s.tokens[digest]
	if !exists {
		return token.ErrNotFound
	}
	t.Revoked = true
	s.tokens[digest] = t
	return nil
}

func available(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", token.ErrUnavailable, err)
	}
	return nil
}

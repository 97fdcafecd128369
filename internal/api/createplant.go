package api

import (
	"context"
	"strings"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// createPlant answers POST /plants. It checks content type, idempotency key and body, in this order.
func (s *Service) createPlant(ctx context.Context, r *request) (any, error) {
	if !isJSON(r.Headers["content-type"]) {
		return nil, errContentType
	}
	key, sent := r.Headers["idempotency-key"]
	if !sent {
		key = s.NewKey()
	}
	r.idempotencyKey = key
	if !token.IsVisibleASCII(key, 255) {
		return nil, errIdempotencyKey
	}
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, errNoBody
	}
	p, err := plant.Decode(body)
	if err != nil {
		return nil, err
	}
	err = s.Plants.Create(ctx, plant.Write{
		NewPlant: p,
		WriteKey: plant.NewWriteKey(r.principal.Subject, key),
		Subject:  r.principal.Subject,
		Time:     time.Now().UTC(),
	})
	if err != nil {
		return nil, err
	}
	return p.Plant, nil
}

// isJSON reports whether a content type is JSON's, or missing: some clients send none. EqualFold alone would take the
// letter ſ, of two bytes, for an s.
func isJSON(contentType string) bool {
	const want = "application/json"
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.Trim(media, " \t")
	return contentType == "" || len(media) == len(want) && strings.EqualFold(media, want)
}

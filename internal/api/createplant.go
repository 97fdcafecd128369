package api

import (
	"context"
	"strings"

	"plantstore/internal/plant"
)

// createPlant answers POST /plants. It checks content type, idempotency key and body, in this order.
func (s *Service) createPlant(ctx context.Context, r request) (any, error) {
	if !isJSON(r.Headers["content-type"]) {
		return nil, errContentType
	}
	if !isIdempotencyKey(r.idempotencyKey) {
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
		Plant: p,
		Key:   plant.NewWriteKey(r.principal.Subject, r.idempotencyKey),
		By:    r.principal.Subject,
		At:    s.Now().UTC(),
	})
	if err != nil {
		return nil, err
	}
	return p.Plant, nil
}

// isIdempotencyKey reports whether key is 1 to 255 visible ASCII characters. A regular expression would
// add 0.7 ms to each cold start.
func isIdempotencyKey(key string) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(key) >= 1 && len(key) <= 255 && !strings.ContainsFunc(key, invisible)
}

// isJSON reports whether a content type is JSON's, with any parameters, or missing: some clients send none.
func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return contentType == "" || equalFold(strings.Trim(media, " \t"), "application/json")
}

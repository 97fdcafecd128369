package api

import (
	"context"
	"crypto/rand"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"plantstore/internal/plant"
)

// keyFormat matches an idempotency key of any length. Compiling one with {1,255} would slow each start.
var keyFormat = regexp.MustCompile(`^[!-~]+$`)

// CreatePlant answers POST /plants.
type CreatePlant struct {
	Plants plant.Store
	Log    *slog.Logger
}

// Invoke implements [Handler].
func (c *CreatePlant) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	return serve(ctx, event, c.Log, "create plant", c.create)
}

func (c *CreatePlant) create(ctx context.Context, r request) (any, error) {
	if !isJSON(r.Headers["Content-Type"]) {
		return nil, errContentType
	}
	key, sent := r.Headers["Idempotency-Key"]
	if !sent {
		key = rand.Text()
	}
	if len(key) > 255 || !keyFormat.MatchString(key) {
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
	err = c.Plants.Create(ctx, plant.Write{
		NewPlant: p,
		WriteKey: plant.NewWriteKey(r.caller.subject, key),
		Subject:  r.caller.subject,
		Time:     time.Now().UTC(),
	})
	if err != nil {
		return nil, &writeError{err, key}
	}
	return p.Plant, nil
}

// writeError is an error from the store, with the idempotency key for a retry.
type writeError struct {
	error
	idempotencyKey string
}

func (e *writeError) Unwrap() error { return e.error }

// isJSON reports whether a content type is application/json or missing: some clients send none.
func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return contentType == "" || strings.ToLower(strings.Trim(media, " \t")) == "application/json"
}

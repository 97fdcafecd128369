// Package api answers the two Lambda events of the service: [CreatePlant] answers POST /plants, and
// [Authorizer] the authorizer's event that precedes it. Both have the Invoke method of aws-lambda-go's Handler.
//
// Every answer is 200 with a Plant, or 400 with an Error of the catalogue, whatever comes in and
// whatever fails. Each request is logged in one line, without a token, a header or a body.
package api

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// CreatePlant answers POST /plants.
type CreatePlant struct {
	Plants plant.Store
	Log    *slog.Logger
	Now    func() time.Time
	NewKey func() string // at least 128 random bits in visible ASCII, for a request without a key
}

// creation is a request and what its answer needs.
type creation struct {
	request
	idempotencyKey string // the client's, or a fresh one
	plant          plant.NewPlant
}

// Invoke answers an event of payload format 2.0. Its error is nil unless the answer cannot be encoded.
func (h *CreatePlant) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := h.Now()
	var c creation
	err := guard(ctx, createBudget, func(ctx context.Context) error { return h.create(ctx, event, &c) })
	c.log(ctx, h.Log, "create plant", h.Now().Sub(start), err)
	return respond(c.plant.Plant, err, c.idempotencyKey)
}

// create checks authentication, content type, idempotency key, body and plant, in this order.
func (h *CreatePlant) create(ctx context.Context, event []byte, c *creation) error {
	if err := c.decodeAuthorized(event); err != nil {
		return err
	}
	if !isJSON(c.Headers.contentType.value) {
		return errContentType
	}
	c.idempotencyKey = c.Headers.idempotencyKey.value
	if !c.Headers.idempotencyKey.present {
		c.idempotencyKey = h.NewKey()
	}
	if !token.VisibleASCII(c.idempotencyKey, 255) {
		return errIdempotencyKey
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return errNoBody
	}
	if c.plant, err = plant.Decode(body); err != nil {
		return err
	}
	return h.Plants.Create(ctx, plant.Write{
		Plant: c.plant,
		Key:   plant.NewWriteKey(c.principal.Subject, c.idempotencyKey),
		By:    c.principal.Subject,
		At:    h.Now().UTC(),
	})
}

// isJSON reports whether a content type is JSON's, with any parameters, or missing: some clients send none.
func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return contentType == "" || equalFold(strings.Trim(media, " \t"), "application/json")
}

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

	// Now gives the time of the write and of the log line.
	Now func() time.Time

	// NewKey returns a fresh random idempotency key, for a request that comes
	// without one: at least 128 bits as visible ASCII.
	NewKey func() string
}

// creation is a request and its idempotency key, kept for the log line and the
// answer.
type creation struct {
	request
	idempotencyKey string
}

// Invoke answers an event of payload format 2.0. Its error is nil unless the
// answer cannot be encoded.
func (h *CreatePlant) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := h.Now()
	var c creation
	created, err := guard(ctx, createBudget, func(ctx context.Context) (plant.Plant, error) {
		return h.create(ctx, event, &c)
	})
	record{
		requestID: c.RequestContext.RequestID,
		subject:   c.RequestContext.Authorizer.Lambda.Subject,
		tokenID:   c.RequestContext.Authorizer.Lambda.TokenID,
		duration:  h.Now().Sub(start),
		err:       err,
	}.log(ctx, h.Log, "create plant")
	return respond(created, err, c.idempotencyKey)
}

// create carries the request out. It checks authentication, content type,
// idempotency key, body and plant in this order.
func (h *CreatePlant) create(ctx context.Context, event []byte, c *creation) (plant.Plant, error) {
	if err := c.decodeAuthorized(event); err != nil {
		return plant.Plant{}, err
	}
	authorized := c.RequestContext.Authorizer.Lambda
	if !isJSON(c.Headers.contentType.value) {
		return plant.Plant{}, errContentType
	}
	if err := c.chooseKey(h.NewKey); err != nil {
		return plant.Plant{}, err
	}
	body, err := c.body()
	if err != nil {
		return plant.Plant{}, err
	}
	if len(body) == 0 {
		return plant.Plant{}, errNoBody
	}
	p, err := plant.Decode(body)
	if err != nil {
		return plant.Plant{}, err
	}
	return p.Plant, h.Plants.Create(ctx, plant.Write{
		Plant: p,
		Key:   plant.NewWriteKey(authorized.Subject, c.idempotencyKey),
		By:    authorized.Subject,
		At:    h.Now().UTC(),
	})
}

// chooseKey sets the idempotency key: the client's, or a fresh one.
func (c *creation) chooseKey(newKey func() string) error {
	sent := c.Headers.idempotencyKey
	if !sent.present {
		c.idempotencyKey = newKey()
		return nil
	}
	if !token.VisibleASCII(sent.value, 255) {
		return errIdempotencyKey
	}
	c.idempotencyKey = sent.value
	return nil
}

// isJSON reports whether a content type is JSON's, with any parameters. A
// missing content type counts as JSON, because some HTTP clients send none.
func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return contentType == "" || equalFold(strings.Trim(media, " \t"), "application/json")
}

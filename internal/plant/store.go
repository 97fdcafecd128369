package plant

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// Errors returned by a [Store].
var (
	// ErrExists means that another request has created a plant with this id.
	ErrExists = errors.New("plant: id exists")

	// ErrKeyReused means that a write with the same key has created a different plant with this id.
	ErrKeyReused = errors.New("plant: write key was used with another plant")

	// ErrUnavailable means that the outcome is unknown: the plant may have been created, or may still be created.
	// Repeat the write.
	ErrUnavailable = errors.New("plant: store is unavailable")
)

// Store keeps plants.
type Store interface {
	// Create stores w.NewPlant, unless the store has a plant with its id. It returns nil if this call, or an earlier one
	// with the same key, stored the plant. Otherwise it returns ErrExists, ErrKeyReused or ErrUnavailable, or another
	// error, which needs an operator. After ErrUnavailable or another error, the plant may have been created.
	//
	// The same write may be repeated, even concurrently. Create returns by the deadline of ctx.
	Create(ctx context.Context, w Write) error
}

// Write is a request to create a plant.
type Write struct {
	NewPlant NewPlant
	WriteKey string    // see [NewWriteKey]; writes with the same id and key are the same request
	Subject  string    // of the token
	Time     time.Time // if a request is repeated, the store keeps the time of the first
}

// NewWriteKey returns a hexadecimal SHA-256 of subject and idempotencyKey. This must never change, or a retry would get
// ErrExists for its own plant.
func NewWriteKey(subject, idempotencyKey string) string {
	message := binary.BigEndian.AppendUint64(nil, uint64(len(subject))) // so that "ab", "c" differs from "a", "bc"
	sum := sha256.Sum256(append(message, subject+idempotencyKey...))
	return hex.EncodeToString(sum[:])
}

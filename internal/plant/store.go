package plant

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// Errors of [Store].
var (
	// ErrExists means that another request created a plant with this id.
	ErrExists = errors.New("plant: id exists")

	// ErrKeyReused means that a write with the same write key created another plant with this id.
	ErrKeyReused = errors.New("plant: write key was used with another plant")

	// ErrUnavailable means that the plant may have been created, or may yet be: repeat the write.
	ErrUnavailable = errors.New("plant: store is unavailable")
)

// Store keeps plants.
type Store interface {
	// Create stores w.NewPlant, unless the store has a plant with its id. It returns nil if this call or an earlier one
	// with the same key stored it, or one of the errors above. Any other error means that no request can succeed
	// until an operator changes something.
	//
	// The same write may be repeated, also concurrently. Create returns soon after the deadline of ctx at the latest.
	Create(ctx context.Context, w Write) error
}

// Write is a request to create a plant.
type Write struct {
	NewPlant NewPlant
	WriteKey string    // for one id, writes with the same key are one request
	Subject  string    // of the token
	Time     time.Time // the store keeps that of the first request with this key
}

// NewWriteKey returns the SHA-256, in hexadecimal, of the length of subject in eight bytes, subject and idempotencyKey.
// The length keeps two subjects apart. This must never change: a retry would get ErrExists for its own plant.
func NewWriteKey(subject, idempotencyKey string) string {
	message := binary.BigEndian.AppendUint64(nil, uint64(len(subject)))
	sum := sha256.Sum256(append(message, subject+idempotencyKey...))
	return hex.EncodeToString(sum[:])
}

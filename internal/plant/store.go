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

	// ErrUnavailable means that this call of Create did not create the plant and never will. The store could
	// not be reached, or it refused the write. An earlier call with the same key may have created the plant.
	ErrUnavailable = errors.New("plant: store is unavailable")

	// ErrOutcomeUnknown means that the plant may have been created, or may yet be: repeat the write.
	ErrOutcomeUnknown = errors.New("plant: outcome is unknown")
)

// Store holds plants by their id.
type Store interface {
	// Create stores w.NewPlant under its id, unless the store has a plant with that id. It returns nil
	// if the store now has w.NewPlant, written by this call or by an earlier one with the same key.
	// It returns ErrExists or ErrKeyReused if the id is taken, and leaves the stored plant as it is. It
	// returns ErrUnavailable or ErrOutcomeUnknown if the store fails. Any other error means that nothing was
	// stored, and that no request can succeed until an operator changes something, such as the table or the role.
	//
	// The same write may be repeated any number of times, also concurrently. Create returns before
	// the deadline of ctx or soon after it.
	Create(ctx context.Context, w Write) error
}

// Write is one request to create a plant.
type Write struct {
	NewPlant NewPlant
	WriteKey string    // of the request: for one id, writes with the same key are the same request, so a retry is safe
	Subject  string    // of the request's token
	Time     time.Time // of the request; the store keeps that of the first request with this key
}

// NewWriteKey returns the write key of a request: the SHA-256, in lower-case hexadecimal, of three parts in a row:
// the length of subject in eight bytes, subject, and idempotencyKey. The length keeps the requests of two subjects
// apart. The key of a request must never change: a retry after the change would get ErrExists for its own plant.
func NewWriteKey(subject, idempotencyKey string) string {
	message := binary.BigEndian.AppendUint64(nil, uint64(len(subject)))
	sum := sha256.Sum256(append(message, subject+idempotencyKey...))
	return hex.EncodeToString(sum[:])
}

// Package plant is the domain of the service: plants, their JSON form, and the contract of a store of plants.
package plant

import "errors"

// MaxSize limits the name and the tag together, in bytes of UTF-8. DynamoDB limits an item to 400 KB, and the other
// attributes need less than 10 KB.
const MaxSize = 390 << 10

// MaxBody limits a body, in bytes. The largest plant fits, even with every character escaped, as in \u0041. Decoding this
// much takes at most 0.2 s on one CPU, and 1.4 s in a function, which gets a seventh of a CPU.
const MaxBody = 2_500_000

// Errors of [Decode]. The first two are wrapped in a [*BodyError], which says what is wrong.
var (
	// ErrMalformed means that the body is not one well-formed JSON value.
	ErrMalformed = errors.New("plant: not well-formed JSON")

	// ErrInvalid means that the body is not a NewPlant.
	ErrInvalid = errors.New("plant: not a NewPlant")

	// ErrTooLarge means that name and tag together exceed [MaxSize], or the body [MaxBody].
	ErrTooLarge = errors.New("plant: too large to store")
)

// Plant is the Plant of openapi.yaml.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// NewPlant is the NewPlant of openapi.yaml.
type NewPlant struct {
	ID int64 `json:"id"`
	Plant
}

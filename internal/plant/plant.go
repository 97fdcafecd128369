// Package plant is the domain of the service: what a plant is, how one is decoded, and what a store of plants must
// promise.
package plant

import "errors"

// MaxSize limits name and tag together, in bytes of UTF-8. DynamoDB limits an item to 400 KB, of which
// 10 KB are kept for other attributes.
const MaxSize = 390 << 10

// MaxBody limits a body, in bytes. The largest plant needs less, even if each character is escaped, as in \u0041.
// To decode this many takes up to 0.2 s of a CPU, and 1.4 s in a function, which gets a seventh of one.
const MaxBody = 2_500_000

// Errors of [Decode]. A [*BodyError] says more of the first two.
var (
	// ErrMalformed means that the body is not one well-formed JSON value.
	ErrMalformed = errors.New("plant: not well-formed JSON")

	// ErrInvalid means that the body is not a NewPlant.
	ErrInvalid = errors.New("plant: not a NewPlant")

	// ErrTooLarge means that name and tag together exceed [MaxSize], or the body [MaxBody].
	ErrTooLarge = errors.New("plant: too large to store")
)

// Plant is a Plant of openapi.yaml.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// NewPlant is a NewPlant of openapi.yaml.
type NewPlant struct {
	ID int64 `json:"id"`
	Plant
}

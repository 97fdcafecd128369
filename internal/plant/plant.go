// Package plant is the domain of the service: plants, their JSON form, and the contract of a plant store.
package plant

import "errors"

// MaxText limits the name and the tag together, in bytes of UTF-8. DynamoDB limits an item to 400 KB, and the other
// attributes need less than 10 KB.
const MaxText = 390 << 10

// MaxBody limits a body, in bytes. The largest plant fits even with every character escaped, as in \u0041.
// Decoding this much takes 1 to 2 s of a request's 2.7, on a seventh of a CPU, a function's share: see BenchmarkDecode.
const MaxBody = 2_500_000

// Errors returned by [Decode], which wraps the first two in a [*BodyError].
var (
	ErrMalformed = errors.New("plant: not well-formed JSON")
	ErrInvalid   = errors.New("plant: not a NewPlant")
	ErrTooLarge  = errors.New("plant: too large to store") // see [MaxText] and [MaxBody]
)

// Plant is the Plant in openapi.yaml.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitzero"`
}

// NewPlant is the NewPlant in openapi.yaml.
type NewPlant struct {
	ID int64 `json:"id"`
	Plant
}

// Package plant is the domain of the service: what a plant is, which requests to create one are
// valid, and what a store of plants must promise.
package plant

import "errors"

// MaxSize limits the texts of a plant together, in bytes of UTF-8. DynamoDB limits an item to 400 KB;
// 10 KB of that are kept for the item's other attributes and all attribute names.
const MaxSize = 390 << 10

// MaxBody limits a body, in bytes. The largest plant needs less, even if each character is escaped: six
// bytes for one, as in \u0041. Decoding a body of this size takes up to 0.2 s of a whole CPU. A function with
// 256 MB of memory, the least that template.yaml allows, has 0.145 of a CPU, so there it takes 1.4 s of the 2.7 s
// that package budget gives to decoding and storing.
const MaxBody = 2_500_000

// Errors of [Decode].
var (
	// ErrMalformed means that the body is not exactly one well-formed JSON value.
	ErrMalformed = errors.New("plant: not well-formed JSON")

	// ErrInvalid means that the body is JSON, but not a NewPlant. An [*InvalidError] says why.
	ErrInvalid = errors.New("plant: not a NewPlant")

	// ErrTooLarge means that the texts together exceed [MaxSize], or the body [MaxBody].
	ErrTooLarge = errors.New("plant: too large to store")
)

// Plant is a Plant of openapi.yaml: what the service returns to a client.
type Plant struct {
	Name string  `json:"name"`         // may be empty
	Tag  *string `json:"tag,omitzero"` // nil if there is no tag; a tag may be empty
}

// NewPlant is a NewPlant of openapi.yaml: a plant that a client asks to create.
type NewPlant struct {
	ID int64 `json:"id"` // every value is valid, also zero and negative ones
	Plant
}

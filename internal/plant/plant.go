// Package plant is the domain of the service: what a plant is, which requests
// to create one are valid, and what a store of plants must promise.
//
// It imports the standard library alone and knows no HTTP, no AWS and no
// environment. Everything else in the repository is arranged around it.
package plant

import "errors"

// MaxSize is the largest number of bytes that the name and the tag of a plant
// may have together, in UTF-8. It is DynamoDB's limit of 400 KB an item, less
// 10 KB for the item's other attributes and their names.
const MaxSize = 390 << 10

// Errors of a body that is no plant to create. See [Decode].
var (
	// ErrMalformed means that the body is not one well-formed JSON value.
	ErrMalformed = errors.New("plant: not well-formed JSON")

	// ErrInvalid means that the body is JSON, but not a NewPlant. The error in
	// the chain that says why is an [*InvalidError].
	ErrInvalid = errors.New("plant: not a NewPlant")

	// ErrTooLarge means that name and tag together exceed [MaxSize].
	ErrTooLarge = errors.New("plant: too large to store")
)

// Plant is what the service answers of a plant, as openapi.yaml has it.
type Plant struct {
	// Name has at least one character.
	Name string `json:"name"`

	// Tag specifies the type of the plant. Nil means that there is none, which
	// is not the same as an empty one.
	Tag *string `json:"tag,omitzero"`
}

// NewPlant is a plant that a client asks to create.
type NewPlant struct {
	// ID identifies the plant. Any value is valid, zero and negative ones too.
	ID int64 `json:"id"`

	Plant
}

// Equal reports whether p and q have the same id, the same name and the same
// tag.
func (p NewPlant) Equal(q NewPlant) bool {
	if (p.Tag == nil) != (q.Tag == nil) {
		return false
	}
	return p.ID == q.ID && p.Name == q.Name && (p.Tag == nil || *p.Tag == *q.Tag)
}

func (p NewPlant) size() int {
	if p.Tag == nil {
		return len(p.Name)
	}
	return len(p.Name) + len(*p.Tag)
}

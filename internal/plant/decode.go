package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// InvalidError says why a JSON value is not a NewPlant. It matches [ErrInvalid].
type InvalidError struct {
	// Reason is a clause that names the member and what it must be, and never
	// repeats what was sent: "name must be a string".
	Reason string
}

func (e *InvalidError) Error() string { return ErrInvalid.Error() + ": " + e.Reason }

// Unwrap returns [ErrInvalid].
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Decode returns the NewPlant in body. A body is valid exactly if it is valid
// under the schema in openapi.yaml: unknown members are ignored, names are
// case-sensitive, null is never a value, and 1.0 and 1e3 are integers.
//
// It returns
//   - [ErrMalformed] if body is not one JSON value (RFC 8259), has duplicate
//     names, invalid UTF-8 or lone surrogates, or nests deeper than 10,000 levels;
//   - an [*InvalidError] if the value is not a NewPlant;
//   - [ErrTooLarge] if the plant is too large to store.
func Decode(body []byte) (NewPlant, error) {
	value := jsontext.Value(body)
	if !value.IsValid() {
		return NewPlant{}, ErrMalformed
	}
	if value.Kind() != '{' {
		return NewPlant{}, &InvalidError{"it must be an object"}
	}
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	// IsValid has found no duplicate names, and checking again would take most of
	// the time.
	if err := json.Unmarshal(body, &members, jsontext.AllowDuplicateNames(true)); err != nil {
		return NewPlant{}, ErrMalformed
	}
	switch {
	case members.ID == nil:
		return NewPlant{}, &InvalidError{"id is required"}
	case members.ID.Kind() != '0':
		return NewPlant{}, errNotInteger
	}
	id, err := parseInt64(string(members.ID))
	if err != nil {
		return NewPlant{}, err
	}
	name, err := decodeText("name", members.Name)
	if err != nil {
		return NewPlant{}, err
	}
	p, size := NewPlant{id, Plant{Name: name}}, len(name)
	if members.Tag != nil {
		tag, err := decodeText("tag", members.Tag)
		if err != nil {
			return NewPlant{}, err
		}
		p.Tag, size = &tag, size+len(tag)
	}
	if size > MaxSize {
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// decodeText returns the text of a required member, whose value is nil if the
// member is absent.
func decodeText(name string, value jsontext.Value) (string, error) {
	if value == nil {
		return "", &InvalidError{name + " is required"}
	}
	if value.Kind() != '"' {
		return "", &InvalidError{name + " must be a string"}
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// InvalidError says what of a JSON value keeps it from being a NewPlant. It
// matches [ErrInvalid].
type InvalidError struct {
	// Reason is a clause that names the member and what it must be, and never
	// repeats what was sent: "name must be a string".
	Reason string
}

func (e *InvalidError) Error() string { return ErrInvalid.Error() + ": " + e.Reason }

// Unwrap returns [ErrInvalid].
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Decode returns the NewPlant that body holds, judged exactly by the schema in
// openapi.yaml: an unknown member is ignored, names are case-sensitive, null
// is no value, and an integer is one by its value, so 1.0 and 1e3 are.
//
// It returns [ErrMalformed] where the body is not one JSON value (RFC 8259), has
// duplicate names, invalid UTF-8 or lone surrogates, or nests deeper than 10,000
// levels, an [*InvalidError] where the value is not a NewPlant, and [ErrTooLarge]
// where the plant could not be stored.
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
	// It is valid by now; to look for duplicate names again is most of the work.
	if err := json.Unmarshal(body, &members, jsontext.AllowDuplicateNames(true)); err != nil {
		return NewPlant{}, ErrMalformed
	}
	p, err := newPlant(members.ID, members.Name, members.Tag)
	if err != nil {
		return NewPlant{}, err
	}
	if p.size() > MaxSize {
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// newPlant judges the three members, each nil where it is absent.
func newPlant(id, name, tag jsontext.Value) (p NewPlant, err error) {
	if p.ID, err = idOf(id); err != nil {
		return p, err
	}
	if name == nil {
		return p, &InvalidError{"name is required"}
	}
	if p.Name, err = stringOf("name", name); err != nil {
		return p, err
	}
	if p.Name == "" {
		return p, &InvalidError{"name must have at least one character"}
	}
	if tag != nil {
		text, err := stringOf("tag", tag)
		p.Tag = &text
		return p, err
	}
	return p, nil
}

func idOf(value jsontext.Value) (int64, error) {
	if value == nil {
		return 0, &InvalidError{"id is required"}
	}
	if value.Kind() != '0' {
		return 0, errFraction
	}
	return parseInt64(string(value))
}

func stringOf(name string, value jsontext.Value) (string, error) {
	if value.Kind() != '"' {
		return "", &InvalidError{name + " must be a string"}
	}
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}

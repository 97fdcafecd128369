package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// InvalidError says why a JSON value is not a NewPlant. Reason names each invalid member and what it
// must be, and never repeats what was sent: "id is required; name must be a string".
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return ErrInvalid.Error() + ": " + e.Reason }

func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Decode returns the NewPlant in body. A body is valid exactly if it is valid under the schema in
// openapi.yaml: unknown members are ignored, names are case-sensitive, null is never a value, and 1.0
// and 1e3 are integers.
//
// It returns
//   - [ErrMalformed] if body is not one JSON value (RFC 8259), has duplicate names, invalid UTF-8 or
//     lone surrogates, or nests deeper than 10,000 levels;
//   - an [*InvalidError] if the value is not a NewPlant;
//   - [ErrTooLarge] if the body or the plant is too large. A body is measured before it is read.
func Decode(body []byte) (NewPlant, error) {
	if len(body) > MaxBody {
		return NewPlant{}, ErrTooLarge
	}
	value := jsontext.Value(body)
	if !value.IsValid() {
		return NewPlant{}, ErrMalformed
	}
	if value.Kind() != '{' {
		return NewPlant{}, &InvalidError{Reason: "it must be an object"}
	}
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	// IsValid has found no duplicate names, and checking again would take most of the time.
	if err := json.Unmarshal(body, &members, jsontext.AllowDuplicateNames(true)); err != nil {
		return NewPlant{}, ErrMalformed
	}
	var d decoder
	var p NewPlant
	p.ID = d.integer("id", members.ID)
	p.Name = d.text("name", members.Name)
	if members.Tag != nil {
		p.Tag = new(d.text("tag", members.Tag)) // since Go 1.26, new takes a value
	}
	switch {
	case d.reasons != nil:
		return NewPlant{}, &InvalidError{Reason: strings.Join(d.reasons, "; ")}
	case d.size > MaxSize:
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// decoder decodes the values of members. An absent member has the value nil. One that is null has the
// value null, of the wrong kind.
type decoder struct {
	reasons []string // why members are invalid
	size    int      // of all texts, in bytes of UTF-8
}

// addReason records why the member with this name is invalid: the reason, or "is required" if it is absent.
func (d *decoder) addReason(name string, value jsontext.Value, reason string) {
	if value == nil {
		reason = "is required"
	}
	d.reasons = append(d.reasons, name+" "+reason)
}

// integer returns a required integer of 64 bits. The kind of every number is '0', and an absent value has no kind.
func (d *decoder) integer(name string, value jsontext.Value) int64 {
	if value.Kind() != '0' {
		d.addReason(name, value, errNotInteger.Error())
		return 0
	}
	n, err := parseInt64(string(value))
	if err != nil {
		d.addReason(name, value, err.Error())
	}
	return n
}

// text returns a required text. The kind of every string is '"'.
func (d *decoder) text(name string, value jsontext.Value) string {
	if value.Kind() != '"' {
		d.addReason(name, value, "must be a string")
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, value) // it is valid JSON
	d.size += len(text)
	return string(text)
}

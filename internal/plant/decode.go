package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// InvalidError says why a JSON value is not a NewPlant, such as "id is required; name must be a string". Reason never
// repeats what was sent.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return ErrInvalid.Error() + ": " + e.Reason }

func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Decode returns the NewPlant in body, by the schema in openapi.yaml: unknown members are ignored, names are
// case-sensitive, null is never a value, and 1.0 and 1e3 are integers. It returns [ErrMalformed] also for duplicate
// names, invalid UTF-8, lone surrogates and more than 10,000 levels, an [*InvalidError], or [ErrTooLarge].
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
	// To check the names again, after IsValid, would take most of the time.
	if err := json.Unmarshal(body, &members, jsontext.AllowDuplicateNames(true)); err != nil {
		return NewPlant{}, ErrMalformed
	}
	var d decoder
	var p NewPlant
	p.ID = d.integer("id", members.ID)
	p.Name = d.text("name", members.Name)
	if members.Tag != nil {
		p.Tag = new(d.text("tag", members.Tag))
	}
	switch {
	case d.reasons != nil:
		return NewPlant{}, &InvalidError{Reason: strings.Join(d.reasons, "; ")}
	case d.size > MaxSize:
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// decoder decodes the values of members. An absent member has the value nil.
type decoder struct {
	reasons []string
	size    int // of all texts, in bytes of UTF-8
}

func (d *decoder) addReason(name string, value jsontext.Value, reason string) {
	if value == nil {
		reason = "is required"
	}
	d.reasons = append(d.reasons, name+" "+reason)
}

func (d *decoder) integer(name string, value jsontext.Value) int64 {
	if value.Kind() != '0' { // the kind of every number
		d.addReason(name, value, errNotInteger.Error())
		return 0
	}
	n, err := parseInt64(string(value))
	if err != nil {
		d.addReason(name, value, err.Error())
	}
	return n
}

func (d *decoder) text(name string, value jsontext.Value) string {
	if value.Kind() != '"' {
		d.addReason(name, value, "must be a string")
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, value) // it is valid JSON
	d.size += len(text)
	return string(text)
}

package plant

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A BodyError is [ErrMalformed] or [ErrInvalid] with a reason, such as "id is required; name must be a string". The
// reason never repeats what was sent.
type BodyError struct {
	Err    error
	Reason string
}

func (e *BodyError) Error() string { return e.Err.Error() + ": " + e.Reason }

func (e *BodyError) Unwrap() error { return e.Err }

// Decode returns the NewPlant in body, by the schema in openapi.yaml: unknown members are ignored, names are
// case-sensitive, null is never a value, and 1.0 and 1e3 are integers. It returns [ErrMalformed] also for duplicate
// names, invalid UTF-8, lone surrogates and more than 10,000 levels, or [ErrInvalid], or [ErrTooLarge].
func Decode(body []byte) (NewPlant, error) {
	if len(body) > MaxBody {
		return NewPlant{}, ErrTooLarge
	}
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	var value any = &members
	isObject := jsontext.Value(body).Kind() == '{'
	if !isObject {
		value = new(jsontext.Value)
	}
	err := json.Unmarshal(body, value)
	if at, isSyntax := errors.AsType[*jsontext.SyntacticError](err); isSyntax {
		return NewPlant{}, malformed(body, at)
	}
	if err != nil || !isObject {
		return NewPlant{}, &BodyError{ErrInvalid, "it must be an object"}
	}
	var d memberDecoder
	var p NewPlant
	p.ID = d.integer("id", members.ID)
	p.Name = d.text("name", members.Name)
	if members.Tag != nil {
		p.Tag = new(d.text("tag", members.Tag))
	}
	switch {
	case d.reasons != nil:
		return NewPlant{}, &BodyError{ErrInvalid, strings.Join(d.reasons, "; ")}
	case d.size > MaxSize:
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// malformed returns what the client should learn of a syntax error. For most, jsontext has no error of its own.
func malformed(body []byte, at *jsontext.SyntacticError) error {
	switch {
	case bytes.HasPrefix(body, []byte("\uFEFF")):
		return &BodyError{ErrMalformed, "it begins with a byte order mark"}
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}): // RFC 1952, section 2.3.1
		return &BodyError{ErrMalformed, "it is compressed"}
	case !utf8.Valid(body):
		return &BodyError{ErrMalformed, "it is not UTF-8"}
	case errors.Is(at, jsontext.ErrDuplicateName):
		return &BodyError{ErrMalformed, "a name occurs twice in an object"}
	case jsontext.Value(body[:at.ByteOffset]).IsValid():
		return &BodyError{ErrMalformed, "it has text after its value"}
	case isSurrogate(body[at.ByteOffset:]):
		return &BodyError{ErrMalformed, "it has half of a surrogate pair"}
	case strings.Count(string(at.JSONPointer), "/") >= maxDepth:
		return &BodyError{ErrMalformed, "it has more than 10000 levels"}
	}
	return ErrMalformed
}

const maxDepth = 10_000 // of jsontext

// isSurrogate reports whether text begins with the escape of a surrogate, such as \ud83c.
func isSurrogate(text []byte) bool {
	digits, isEscape := bytes.CutPrefix(text, []byte(`\u`))
	if !isEscape || len(digits) < 4 {
		return false
	}
	unit, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	return err == nil && utf16.IsSurrogate(rune(unit))
}

// memberDecoder decodes the values of members. An absent member has the value nil.
type memberDecoder struct {
	reasons []string
	size    int // of all strings, in bytes of UTF-8
}

func (d *memberDecoder) addReason(name string, value jsontext.Value, reason string) {
	if value == nil {
		reason = "is required"
	}
	d.reasons = append(d.reasons, name+" "+reason)
}

func (d *memberDecoder) integer(name string, value jsontext.Value) int64 {
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

func (d *memberDecoder) text(name string, value jsontext.Value) string {
	if value.Kind() != '"' {
		d.addReason(name, value, "must be a string")
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, value) // it is valid JSON
	d.size += len(text)
	return string(text)
}

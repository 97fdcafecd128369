package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
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

// Decode returns the NewPlant in body, as openapi.yaml defines it: unknown members are ignored, names are
// case-sensitive, null is never a value, and 1.0 and 1e3 are integers.
//
// Duplicate names, invalid UTF-8, lone surrogates and more than 10,000 levels of nesting are [ErrMalformed] too.
func Decode(body []byte) (NewPlant, error) {
	if len(body) > MaxBody {
		return NewPlant{}, ErrTooLarge
	}
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	err := json.Unmarshal(body, &members)
	isObject := jsontext.Value(body).Kind() == '{'
	if !isObject { // Unmarshal stops at the wrong type, and would miss the syntax error in [1,]
		err = json.Unmarshal(body, new(jsontext.Value))
	}
	if syntaxError, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return NewPlant{}, malformed(body, syntaxError)
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
	case d.size > MaxText:
		return NewPlant{}, ErrTooLarge
	}
	return p, nil
}

// malformed says where the error is. The text of a jsontext error may repeat parts of the body.
func malformed(body []byte, err *jsontext.SyntacticError) error {
	what := "an error"
	first, size := utf8.DecodeRune(body[err.ByteOffset:])
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		what = "a repeated name"
	case first == utf8.RuneError && size == 1:
		what = "invalid UTF-8"
	}
	reason := fmt.Sprintf("there is %s after byte %d", what, err.ByteOffset)
	if err.ByteOffset == 0 && (first < ' ' || first > '~') { // no ASCII text begins like this
		reason += ", so the body may be compressed or have a byte order mark"
	}
	return &BodyError{ErrMalformed, reason}
}

// memberDecoder decodes members, and collects what is wrong with them. The value of an absent member is nil.
type memberDecoder struct {
	reasons []string
	size    int // of all strings, in bytes
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
	text, _ := jsontext.AppendUnquote(nil, value) // value is valid
	d.size += len(text)
	return string(text)
}

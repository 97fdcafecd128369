package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"strings"

	"plantstore/internal/plant"
)

// request is what the service uses of an API Gateway event of payload format
// 2.0, the one that a function gets or the one that an authorizer gets.
// Source: API Gateway Developer Guide, "Create AWS Lambda proxy integrations
// for HTTP APIs".
type request struct {
	id              string
	headers         headers
	quotedBody      jsontext.Value // as the event holds it
	isBase64Encoded bool
	verdict         verdict
}

// errType means that a value of an event is of another type than it must be.
var errType = errors.New("api: value of another type")

// decode reads event. The envelope is API Gateway's and not judged: what a
// client can put into it must not keep the event from being read.
func (r *request) decode(event []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(event), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	err := readValue(decoder, map[string]any{
		"headers":         r.headers.named,
		"body":            &r.quotedBody,
		"isBase64Encoded": &r.isBase64Encoded,
		"requestContext": map[string]any{
			"requestId": &r.id,
			"authorizer": map[string]any{
				"lambda": map[string]any{
					"verdict":   &r.verdict.Verdict,
					"presented": &r.verdict.Presented,
					"reason":    &r.verdict.Reason,
					"subject":   &r.verdict.Subject,
					"token_id":  &r.verdict.TokenID,
				},
			},
		},
	})
	if _, end := decoder.ReadToken(); err != nil || !errors.Is(end, io.EOF) {
		// What the decoder says of it may name what the client sent.
		return fmt.Errorf("api: event is not of payload format 2.0, at byte %d", decoder.InputOffset())
	}
	return nil
}

// readValue reads the value that comes next into target: an object's members into
// what a map or a function has for their names, nil to skip them. json.Unmarshal
// would do the same with a struct, but takes as long to make ready for one as the
// rest of a first request takes besides its put.
func readValue(decoder *jsontext.Decoder, target any) error {
	switch target := target.(type) {
	case map[string]any:
		return members(decoder, func(name string) any { return target[name] })
	case func(string) any:
		return members(decoder, target)
	}
	value, err := decoder.ReadValue()
	if err != nil || target == nil || value.Kind() == jsontext.KindNull {
		return err
	}
	switch target := target.(type) {
	case *jsontext.Value:
		*target = value.Clone()
	case *header:
		target.add(value)
	case *string:
		*target, err = unquote(value)
	case *bool:
		*target = value.Kind() == jsontext.KindTrue
		if !*target && value.Kind() != jsontext.KindFalse {
			err = errType
		}
	}
	return err
}

// members reads the members of the object that comes next, each into the target
// for its name.
func members(decoder *jsontext.Decoder, target func(name string) any) error {
	token, err := decoder.ReadToken()
	if err != nil || token.Kind() == jsontext.KindNull {
		return err
	}
	if token.Kind() != jsontext.KindBeginObject {
		return errType
	}
	for decoder.PeekKind() != jsontext.KindEndObject {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := readValue(decoder, target(name.String())); err != nil {
			return err
		}
	}
	_, err = decoder.ReadToken()
	return err
}

// body returns the bytes that the client sent, none where there is no body. It
// returns [plant.ErrMalformed] where the event cannot have held them exactly.
func (r *request) body() ([]byte, error) {
	if r.quotedBody.Kind() != jsontext.KindString {
		return nil, nil
	}
	body, err := jsontext.AppendUnquote(nil, r.quotedBody)
	if err != nil {
		return nil, plant.ErrMalformed
	}
	if !r.isBase64Encoded {
		return body, nil
	}
	if body, err = base64.StdEncoding.AppendDecode(nil, body); err != nil {
		return nil, fmt.Errorf("api: event's body: %w", err)
	}
	return body, nil
}

// headers are the request headers that the service uses.
type headers struct {
	authorization, contentType, idempotencyKey header
}

// named returns the header of this name, in any case: API Gateway sends names in
// lower case, `sam local` does not. It returns nil for a header of no use.
func (h *headers) named(name string) any {
	switch {
	case equalFold(name, "authorization"):
		return &h.authorization
	case equalFold(name, "content-type"):
		return &h.contentType
	case equalFold(name, "idempotency-key"):
		return &h.idempotencyKey
	}
	return nil
}

// header is the value of a header, and whether it was sent at all.
type header struct {
	value string
	sent  bool
}

// add takes a value of the header, if it is a string. One under a name that was
// there before, in another case, is joined by a comma, as API Gateway joins
// repeated headers.
func (h *header) add(quoted jsontext.Value) {
	value, err := unquote(quoted)
	if err != nil {
		return
	}
	if h.sent {
		value = h.value + "," + value
	}
	*h = header{value, true}
}

// unquote returns the text of a JSON string, where it is not exact with U+FFFD for
// what is wrong.
func unquote(quoted jsontext.Value) (string, error) {
	if quoted.Kind() != jsontext.KindString {
		return "", errType
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // the error says that it is not exact
	return string(text), nil
}

// equalFold reports whether s is the ASCII text t, in any case. Unicode folds
// other letters into ASCII's (U+212A into k), but none of them is one byte.
func equalFold(s, t string) bool { return len(s) == len(t) && strings.EqualFold(s, t) }

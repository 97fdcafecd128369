package api

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

var errEvent = errors.New("api: event is not of payload format 2.0")

// request is what the service uses of a function's or an authorizer's event. Source: API Gateway
// Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs".
type request struct {
	Headers         headers        `json:"headers"`
	Body            jsontext.Value `json:"body"`
	IsBase64Encoded bool           `json:"isBase64Encoded"`
	RequestContext  struct {
		RequestID  string `json:"requestId"`
		Authorizer struct {
			Lambda verdict `json:"lambda"`
		} `json:"authorizer"`
	} `json:"requestContext"`

	principal token.Principal // whom the token denotes
}

// decode reads event. It accepts whatever a client can put into API Gateway's envelope.
func (r *request) decode(event []byte) error {
	if json.Unmarshal(event, r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return errEvent // the decoder's error may name what the client sent
	}
	return nil
}

// decodeAuthorized reads event, and returns an error unless the authorizer allowed its request.
// Every handler of a route begins with it.
func (r *request) decodeAuthorized(event []byte) error {
	if err := r.decode(event); err != nil {
		return err
	}
	v := r.RequestContext.Authorizer.Lambda
	r.principal = token.Principal{Subject: v.Subject, TokenID: v.TokenID}
	return v.check(r.Headers.authorization.value)
}

// body returns the bytes that the client sent, none where there is no body. It returns
// [plant.ErrMalformed] where the event cannot have held them exactly.
func (r *request) body() ([]byte, error) {
	if r.Body.Kind() != '"' {
		return nil, nil
	}
	body, err := jsontext.AppendUnquote(nil, r.Body)
	if err != nil {
		return nil, plant.ErrMalformed
	}
	if !r.IsBase64Encoded {
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

// header is the value of a header, and whether the request has the header.
type header struct {
	value   string
	present bool
}

// UnmarshalJSONFrom reads the event's object of headers. API Gateway sends names in lower case, `sam
// local` does not. Values under names that differ only in case are joined, as API Gateway joins them.
func (h *headers) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	if decoder.PeekKind() != '{' {
		return decoder.SkipValue()
	}
	_, err := decoder.ReadToken()
	for err == nil && decoder.PeekKind() == '"' {
		name, _ := decoder.ReadToken() // the next read returns its error again
		target := h.named(name.String())
		if target == nil || decoder.PeekKind() != '"' {
			err = decoder.SkipValue()
			continue
		}
		var value jsontext.Token
		if value, err = decoder.ReadToken(); err == nil {
			target.add(value.String())
		}
	}
	if err == nil {
		_, err = decoder.ReadToken()
	}
	return err
}

func (h *headers) named(name string) *header {
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

func (h *header) add(value string) {
	if h.present {
		value = h.value + "," + value
	}
	*h = header{value, true}
}

// equalFold reports whether s is the ASCII text t, in any case. Unicode folds other letters into
// ASCII's (U+212A into k), but none of them is one byte.
func equalFold(s, t string) bool { return len(s) == len(t) && strings.EqualFold(s, t) }

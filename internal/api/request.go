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
	RouteKey        string            `json:"routeKey"`
	Headers         map[string]string `json:"headers"` // by name in lower case
	Body            jsontext.Value    `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
	RequestContext  struct {
		RequestID  string `json:"requestId"`
		Authorizer struct {
			Lambda verdict `json:"lambda"`
		} `json:"authorizer"`
	} `json:"requestContext"`

	principal      token.Principal // whom the token denotes
	idempotencyKey string          // the client's, or a fresh one; empty until Service has found the operation
}

// decode reads an event. It accepts whatever a client can put into API Gateway's envelope, and leaves the
// body encoded. The first version of encoding/json, which decodes the events of aws-lambda-go, replaces
// invalid UTF-8 silently, so the service could store a plant that nobody sent.
func decode(event []byte) (request, error) {
	var r request
	if json.Unmarshal(event, &r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return request{}, errEvent // the decoder's error may name what the client sent
	}
	sent := r.Headers
	r.Headers = make(map[string]string, len(sent))
	for name, value := range sent { // API Gateway sends names in lower case, `sam local` does not
		name = strings.ToLower(name)
		if _, twice := r.Headers[name]; twice {
			return request{}, errEvent // API Gateway joins the values of one name
		}
		r.Headers[name] = value
	}
	return r, nil
}

// body returns the bytes that the client sent, none where there is no body. It returns
// [plant.ErrMalformed] where the event cannot have held them exactly.
func (r request) body() ([]byte, error) {
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
	body, err = base64.StdEncoding.AppendDecode(nil, body)
	if err != nil {
		return nil, fmt.Errorf("api: event's body: %w", err)
	}
	return body, nil
}

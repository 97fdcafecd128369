package api

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

var errEvent = errors.New("api: event cannot be decoded as one of payload format 2.0")

// request is what the service uses of an event. Source: API Gateway Developer Guide, "Create AWS Lambda proxy
// integrations for HTTP APIs".
type request struct {
	Headers         map[string]string `json:"headers"` // by canonical name, as of [http.CanonicalHeaderKey]
	Body            jsontext.Value    `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
	RequestContext  struct {
		RequestID  string `json:"requestId"`
		Authorizer struct {
			Verdict verdict `json:"lambda"` // all zero if no authorizer ran
		} `json:"authorizer"`
	} `json:"requestContext"`

	caller         token.Token // its id and its subject alone; zero until the token is known
	idempotencyKey string      // the client's, or a fresh one; empty until it is known to be well-formed
}

// decodeEvent reads an event, and leaves the body encoded. API Gateway copies a query such as ?%FF&%FE into the
// event, so it allows bytes that are not UTF-8, and names that are equal without them. In the body, [request.body]
// and [plant.Decode] refuse both: the types of aws-lambda-go would replace such bytes, and so store a plant that
// nobody sent.
func decodeEvent(event []byte) (request, error) {
	var r request
	if json.Unmarshal(event, &r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return request{}, errEvent // the decoder's error may name what the client sent
	}
	sent := r.Headers
	r.Headers = make(map[string]string, len(sent))
	for name, value := range sent { // API Gateway sends names in lower case, `sam local` does not
		r.Headers[http.CanonicalHeaderKey(name)] = value
	}
	return r, nil
}

// body returns the bytes that the client sent, or [plant.ErrMalformed] if nobody can tell, because the event's text is
// not valid UTF-8. Any other error is API Gateway's fault.
func (r request) body() ([]byte, error) {
	if r.Body == nil || r.Body.Kind() == 'n' {
		return nil, nil
	}
	if r.Body.Kind() != '"' {
		return nil, errEvent
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

// parseBearer returns the token in the value of an Authorization header, by RFC 6750 section 2.1. It returns
// errTokenMissing for another scheme or none.
func parseBearer(authorization string) (string, error) {
	end := strings.IndexAny(authorization+" ", " \t") // of the scheme
	if !strings.EqualFold(authorization[:end], "Bearer") {
		return "", errTokenMissing
	}
	bearer := strings.TrimLeft(authorization[end:], " ")
	if bearer == "" || strings.Trim(bearer, b64token) != "" {
		return "", errTokenMalformed
	}
	return bearer, nil
}

// b64token has the characters of a token by RFC 6750.
const b64token = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

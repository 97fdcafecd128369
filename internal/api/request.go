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
)

var errEvent = errors.New("api: event is not in payload format 2.0")

// request has the members of an event that the service reads. Source: API Gateway Developer Guide, "Create AWS Lambda
// proxy integrations for HTTP APIs".
type request struct {
	Headers         map[string]string `json:"headers"` // the keys are [http.CanonicalHeaderKey]s
	Body            jsontext.Value    `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
	RequestContext  struct {
		RequestID  string `json:"requestId"`
		Authorizer struct {
			Context authorizerContext `json:"lambda"` // zero if no authorizer ran
		} `json:"authorizer"`
	} `json:"requestContext"`

	caller caller
}

// decodeEvent decodes an event, except its body.
//
// A query such as ?%FF&%FE puts invalid UTF-8 into the event. Once that is replaced, both names are the same. Both faults
// are tolerated here; in the body, they are refused later. The types of aws-lambda-go would also replace invalid
// bytes in the body, and the service would store a plant that nobody sent.
func decodeEvent(event []byte) (request, error) {
	var r request
	if json.Unmarshal(event, &r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return request{}, errEvent // the decoder's error may repeat what the client sent
	}
	headers := r.Headers
	r.Headers = make(map[string]string, len(headers))
	for name, value := range headers { // API Gateway sends names in lower case, `sam local` does not
		r.Headers[http.CanonicalHeaderKey(name)] = value
	}
	return r, nil
}

// body returns the body as the client sent it, or [plant.ErrMalformed] if API Gateway may have replaced bytes in it. Any
// other error is API Gateway's fault.
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

// parseBearer returns the token in an Authorization header. Source: RFC 6750, section 2.1.
func parseBearer(authorization string) (string, error) {
	end := strings.IndexAny(authorization+" ", " \t")
	if !strings.EqualFold(authorization[:end], "Bearer") {
		return "", errTokenMissing
	}
	bearer := strings.TrimLeft(authorization[end:], " ")
	if bearer == "" || strings.Trim(bearer, b64token) != "" {
		return "", errTokenMalformed
	}
	return bearer, nil
}

// b64token has the characters that RFC 6750 allows in a token.
const b64token = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

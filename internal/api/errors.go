package api

import (
	"encoding/json/v2"
	"errors"
	"net/http"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Error is the body of an answer that refuses a request, as openapi.yaml has it.
type Error struct {
	Code    int32  `json:"error"`
	Message string `json:"message"` // names members and limits, and never repeats what was sent
}

// Errors of HTTP and Lambda, which no domain has.
var (
	errContentType    = errors.New("api: content type is not application/json")
	errNoBody         = errors.New("api: no body")
	errIdempotencyKey = errors.New("api: idempotency key is malformed")
	errTokenMissing   = errors.New("api: no bearer token")
	errTokenMalformed = errors.New("api: Authorization header is malformed")
)

// outcome is one entry of the catalogue.
type outcome struct {
	Error
	cause      error
	retry      bool // the answer carries Retry-After
	returnsKey bool // the answer carries the Idempotency-Key to retry with
}

// catalogue holds every error that the service answers, in the order of the codes; the status is
// always 400. A test compares it with openapi.yaml and README.md.
var catalogue = []outcome{
	{Error: Error{1001, "The content type is not application/json."}, cause: errContentType},
	{Error: Error{1002, "The body is missing or empty."}, cause: errNoBody},
	{Error: Error{1003, "The body is not well-formed JSON, or has a duplicate name, invalid UTF-8 or a lone surrogate."}, cause: plant.ErrMalformed},
	{Error: Error{1004, "The body is not a NewPlant."}, cause: plant.ErrInvalid},
	{Error: Error{1005, "The plant is too large to store: its texts together may have at most 399360 bytes of UTF-8."}, cause: plant.ErrTooLarge},
	{Error: Error{1006, "The Idempotency-Key is malformed: it must have 1 to 255 visible ASCII characters."}, cause: errIdempotencyKey},
	{Error: Error{2001, "There is no bearer token: send the header Authorization: Bearer <ACCESS_TOKEN>."}, cause: errTokenMissing},
	{Error: Error{2002, "The Authorization header is malformed: it must be the word Bearer, a space and one token."}, cause: errTokenMalformed},
	{Error: Error{2003, "The token is unknown, revoked or expired."}, cause: token.ErrInvalid},
	{Error: Error{3001, "A plant with this id exists."}, cause: plant.ErrExists},
	{Error: Error{3002, "The Idempotency-Key was used with another plant of this id."}, cause: plant.ErrKeyReused},
	internalError,
	{Error: Error{5002, "The store is unavailable; this attempt did not create the plant."}, cause: plant.ErrUnavailable, retry: true, returnsKey: true},
	{Error: Error{5003, "Tokens cannot be checked now; this attempt did not create the plant."}, cause: token.ErrUnavailable, retry: true},
	{Error: Error{5004, "The outcome is unknown: the plant may have been created."}, cause: plant.ErrOutcomeUnknown, retry: true, returnsKey: true},
}

// internalError is the outcome of every other error, whose text goes to the log and never to the client.
var internalError = outcome{Error: Error{5001, "There was an internal error."}}

// classify returns the entry of the catalogue for err, and for nil the zero outcome, whose code is 0.
func classify(err error) outcome {
	if err == nil {
		return outcome{}
	}
	for _, o := range catalogue {
		if o.cause != nil && errors.Is(err, o.cause) {
			if invalid, ok := errors.AsType[*plant.InvalidError](err); ok {
				o.Message = "The body is not a NewPlant: " + invalid.Reason + "."
			}
			return o
		}
	}
	return internalError
}

// response is an answer to API Gateway in payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// respond returns the answer 200 with body, or 400 with the Error that err stands for.
func respond(body any, err error, idempotencyKey string) ([]byte, error) {
	r := response{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": "application/json"}}
	if err != nil {
		o := classify(err)
		r.StatusCode = http.StatusBadRequest
		body = o.Error
		if o.retry {
			r.Headers["retry-after"] = "1" // second
		}
		if o.returnsKey {
			r.Headers["idempotency-key"] = idempotencyKey
		}
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r.Body = string(content)
	return json.Marshal(r)
}

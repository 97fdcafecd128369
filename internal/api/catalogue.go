package api

import (
	"errors"
	"fmt"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Error is the body of an answer that refuses a request, as openapi.yaml has it.
type Error struct {
	Code    int32  `json:"error"`
	Message string `json:"message"` // names members and limits, and never repeats what was sent
}

// Errors about HTTP.
var (
	errContentType    = errors.New("api: content type is not application/json")
	errNoBody         = errors.New("api: no body")
	errIdempotencyKey = errors.New("api: idempotency key is malformed")
	errTokenMissing   = errors.New("api: no bearer token")
	errTokenMalformed = errors.New("api: Authorization header is malformed")
)

// entry is an error of the catalogue.
type entry struct {
	code    int32
	message string
	target  error // every error that is or wraps it has this entry; nil for internalError

	// retry means that the same request may succeed later. The answer has Retry-After and the Idempotency-Key
	// to repeat the request with. The answer 5003 has no key, because the function refuses the request before
	// it reads the key.
	retry bool
}

// internalError answers every error that is not in the catalogue. The text of such an error goes to the log, and
// never to the client.
var internalError = entry{code: 5001, message: "There was an internal error."}

// catalogue holds every error that the service answers, in the order of the codes. The status is
// always 400. Tests compare it with openapi.yaml and README.md.
var catalogue = []entry{
	{code: 1001, target: errContentType, message: "The content type is not application/json."},
	{code: 1002, target: errNoBody, message: "The body is missing or empty."},
	{code: 1003, target: plant.ErrMalformed, message: "The body is not well-formed JSON, or has a duplicate name, invalid UTF-8, a lone surrogate or more than 10000 levels of nesting."},
	{code: 1004, target: plant.ErrInvalid, message: "The body is not a NewPlant."},
	{code: 1005, target: plant.ErrTooLarge, message: fmt.Sprintf("The plant is too large: its texts together may have at most %d bytes of UTF-8, and the body at most %d bytes.", plant.MaxSize, plant.MaxBody)},
	{code: 1006, target: errIdempotencyKey, message: "The Idempotency-Key is malformed: it must have 1 to 255 visible ASCII characters."},
	{code: 2001, target: errTokenMissing, message: "There is no bearer token: send the header Authorization: Bearer <ACCESS_TOKEN>."},
	{code: 2002, target: errTokenMalformed, message: "The Authorization header is malformed: it must be the word Bearer, a space and one token."},
	{code: 2003, target: token.ErrInvalid, message: "The token is unknown, revoked or expired."}, // also each token.Reason
	{code: 3001, target: plant.ErrExists, message: "A plant with this id exists."},
	{code: 3002, target: plant.ErrKeyReused, message: "The Idempotency-Key was used with another plant of this id."},
	internalError,
	{code: 5002, target: plant.ErrUnavailable, retry: true, message: "The store is unavailable; this attempt changed nothing."},
	{code: 5003, target: token.ErrUnavailable, retry: true, message: "Tokens cannot be checked now; this attempt changed nothing."},
	{code: 5004, target: plant.ErrOutcomeUnknown, retry: true, message: "The outcome is unknown: the request may have taken effect."},
}

// isServiceFault reports whether the fault is the service's, and not the request's.
func (e entry) isServiceFault() bool { return e.code >= internalError.code }

// outcome is how a request ended. The code of a success is 0.
type outcome struct {
	entry
	err error // nil for a success
}

// classify returns the outcome of a request that ended with err.
func classify(err error) outcome {
	if err == nil {
		return outcome{}
	}
	e := entryOf(err)
	if invalid, ok := errors.AsType[*plant.InvalidError](err); ok {
		e.message = "The body is not a NewPlant: " + invalid.Reason + "."
	}
	return outcome{entry: e, err: err}
}

// entryOf returns the entry of err in the catalogue, and internalError if err has none.
func entryOf(err error) entry {
	for _, e := range catalogue {
		if e.target != nil && errors.Is(err, e.target) {
			return e
		}
	}
	return internalError
}

package api

import (
	"errors"
	"strconv"
	"strings"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Error is the Error in openapi.yaml.
type Error struct {
	Code    int32  `json:"error"`
	Message string `json:"message"` // names members and limits, and never repeats what was sent
}

var (
	errContentType    = errors.New("api: content type is not application/json")
	errNoBody         = errors.New("api: no body")
	errIdempotencyKey = errors.New("api: idempotency key is malformed")
	errTokenMissing   = errors.New("api: no bearer token")
	errTokenMalformed = errors.New("api: Authorization header is malformed")
)

// entry is a row of the catalog. The zero entry means success.
type entry struct {
	code    int32
	err     error // nil for internalError, so that no error matches it
	message string
}

// internalError is the answer to any error that is not in the catalog. The text of that error is only logged.
var internalError = entry{code: 5001, message: "There was an internal error: " +
	"ask the operator, who can see whether the plant was created."}

// catalog lists every error that a client may get.
var catalog = []entry{
	{code: 1001, err: errContentType, message: "The content type is not application/json: " +
		"send the header Content-Type: application/json."},
	{code: 1002, err: errNoBody, message: "The body is missing or empty."},
	{code: 1003, err: plant.ErrMalformed, message: "The body is not JSON that the service accepts."},
	{code: 1004, err: plant.ErrInvalid, message: "The body is not a NewPlant."},
	{code: 1005, err: plant.ErrTooLarge, message: "The plant is too large: name and tag together may have at most " +
		strconv.Itoa(plant.MaxText) + " bytes of UTF-8, and the body at most " + strconv.Itoa(plant.MaxBody) + " bytes."},
	{code: 1006, err: errIdempotencyKey, message: "The Idempotency-Key is malformed: " +
		"it must have 1 to 255 visible ASCII characters."},
	{code: 2001, err: errTokenMissing, message: "There is no bearer token: " +
		"send the header Authorization: Bearer <ACCESS_TOKEN>."},
	{code: 2002, err: errTokenMalformed, message: "The Authorization header is malformed: " +
		"it must be the word Bearer, a space and one token."},
	{code: 2003, err: token.ErrInvalid, message: "The token is unknown, revoked or expired."},
	{code: 3001, err: plant.ErrExists, message: "A plant with this id already exists."},
	{code: 3002, err: plant.ErrKeyReused, message: "The Idempotency-Key was already used for a different plant with this id."},
	internalError,
	{code: 5002, err: plant.ErrUnavailable, message: "The store is unavailable, " +
		"and the plant may have been created: send the request again with the Idempotency-Key of this answer."},
	{code: 5003, err: token.ErrUnavailable, message: "Tokens cannot be checked now. " +
		"This attempt created nothing: send the request again."},
}

// entryOf returns the entry for err. Its message includes the reason if err is a [plant.BodyError].
func entryOf(err error) entry {
	if err == nil {
		return entry{}
	}
	for _, e := range catalog {
		if !errors.Is(err, e.err) {
			continue
		}
		if body, ok := errors.AsType[*plant.BodyError](err); ok {
			e.message = strings.TrimSuffix(e.message, ".") + ": " + body.Reason + "."
		}
		return e
	}
	return internalError
}

func (e entry) isServiceFault() bool { return e.code >= internalError.code }

// isTemporary reports whether the same request may succeed later. Clients and UnavailableAlarm follow this rule too.
func (e entry) isTemporary() bool { return e.code > internalError.code }

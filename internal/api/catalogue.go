package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

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
	target  error // nil for internalError
	retry   bool  // the same request may succeed later: the answer has Retry-After, and the idempotency key if it was read
}

// internalError answers every other error. The text of such an error goes to the log alone.
var internalError = entry{code: 5001, message: "There was an internal error."}

// catalogue has every error that the service answers. openapi.yaml and README.md have this table too.
var catalogue = []entry{
	{code: 1001, target: errContentType, message: "The content type is not application/json."},
	{code: 1002, target: errNoBody, message: "The body is missing or empty."},
	{code: 1003, target: plant.ErrMalformed, message: "The body is compressed, or not well-formed JSON, or has a byte order mark, a duplicate name, invalid UTF-8, a lone surrogate or more than 10000 levels of nesting."},
	{code: 1004, target: plant.ErrInvalid, message: "The body is not a NewPlant."},
	{code: 1005, target: plant.ErrTooLarge, message: fmt.Sprintf("The plant is too large: its texts together may have at most %d bytes of UTF-8, and the body at most %d bytes.", plant.MaxSize, plant.MaxBody)},
	{code: 1006, target: errIdempotencyKey, message: "The Idempotency-Key is malformed: it must have 1 to 255 visible ASCII characters."},
	{code: 2001, target: errTokenMissing, message: "There is no bearer token: send the header Authorization: Bearer <ACCESS_TOKEN>."},
	{code: 2002, target: errTokenMalformed, message: "The Authorization header is malformed: it must be the word Bearer, a space and one token."},
	{code: 2003, target: token.ErrInvalid, message: "The token is unknown, revoked or expired."}, // also each token.Reason
	{code: 3001, target: plant.ErrExists, message: "A plant with this id exists."},
	{code: 3002, target: plant.ErrKeyReused, message: "The Idempotency-Key was used with another plant of this id."},
	internalError,
	{code: 5002, target: plant.ErrUnavailable, retry: true, message: "The store is unavailable, and the plant may have been created: send the request again with this Idempotency-Key."},
	{code: 5003, target: token.ErrUnavailable, retry: true, message: "Tokens cannot be checked now; this attempt changed nothing."},
}

// outcome is how a request ended.
type outcome struct {
	entry
	err error // nil for a success
}

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

func entryOf(err error) entry {
	for _, e := range catalogue {
		if e.target != nil && errors.Is(err, e.target) {
			return e
		}
	}
	return internalError
}

func (o outcome) isServiceFault() bool { return o.code >= internalError.code }

func (o outcome) level() slog.Level {
	if o.isServiceFault() {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// attributes returns the attributes of the request's log line. The code is that of the answer, with one exception: after
// an internal error of its check, the authorizer logs 5001, and the function answers 5003.
func (o outcome) attributes(ctx context.Context, r request, took time.Duration) []slog.Attr {
	attributes := []slog.Attr{
		slog.String("request_id", r.RequestContext.RequestID), // of API Gateway
		lambdaRequestID(ctx),
		slog.Int("code", int(o.code)),
		slog.String("subject", r.principal.Subject),
		slog.String("token_id", r.principal.TokenID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if reason, ok := errors.AsType[token.Reason](o.err); ok {
		attributes = append(attributes, slog.String("reason", string(reason)))
	}
	if o.isServiceFault() {
		attributes = append(attributes, slog.String("error", o.err.Error()))
	}
	return attributes
}

// lambdaRequestID returns the id in the lines of Lambda itself, such as that of a timeout. Outside Lambda there is none:
// slog leaves out a zero attribute.
func lambdaRequestID(ctx context.Context) slog.Attr {
	invocation, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return slog.Attr{}
	}
	return slog.String("lambda_request_id", invocation.AwsRequestID)
}

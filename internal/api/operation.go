// Package api answers the requests of an API Gateway HTTP API in two steps: an [Authorizer] judges the bearer token, and
// an [Operation] does the work if the verdict lets it. On a developer's machine, a [Gateway] joins the two.
package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/dynamo"
)

var _ lambda.Handler = Operation(nil)

// Timeout bounds the work of each function. Its Timeout in template.yaml is longer, to leave time for the answer.
const Timeout = 4 * time.Second

// Operation does what a request asks for, and returns the body of the answer. An error other than an [Error] is answered with
// 503 if it wraps [dynamo.ErrUnavailable], so the same request must be harmless when it is sent again, and otherwise with 500.
type Operation func(context.Context, Request) (answer any, err error)

// Request is a request with a valid token.
type Request struct {
	ID          string // API Gateway's; the client gets it in the header Apigw-Requestid
	Subject     string // whose token it is
	ContentType string
	Body        []byte
}

// Error is the answer to a request that failed. Its code is the HTTP status that the answer would have if openapi.yaml did
// not make every failure a 400.
type Error struct {
	Code    int32  `json:"error"`
	Message string `json:"message"` // says what to do, and repeats nothing of the request
	Cause   error  `json:"-"`       // for the log; nil if the message says it
}

func (e Error) Error() string {
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return e.Message
}

// Because returns e with a cause for the log.
func (e Error) Because(cause error) Error {
	e.Cause = cause
	return e
}

// The failed call may have come after one whose answer was lost, so neither says that nothing was stored.
var (
	errInternal = Error{
		Code: http.StatusInternalServerError,
		Message: "The service failed, and sending the request again is unlikely to help: " +
			"give the operator the Apigw-Requestid of this answer.",
	}
	errUnavailable = Error{
		Code:    http.StatusServiceUnavailable,
		Message: "The request may have taken effect or not: send the same request again in a second to find out.",
	}
)

// Invoke makes the operation a [lambda.Handler], and nothing else does. So no operation can forget to refuse a request
// without a valid token, to answer 200 or 400 even after a panic, and to log the request.
func (do Operation) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request, body, err := do.run(ctx, payload)
	response := events.APIGatewayV2HTTPResponse{
		StatusCode: http.StatusOK,
		Headers:    map[string]string{"content-type": "application/json"},
		Body:       string(body),
	}
	if err == nil {
		slog.InfoContext(ctx, "succeeded", "error", 0, "subject", request.Subject, "apigw_request_id", request.ID)
		return json.Marshal(response)
	}
	refusal := toError(err)
	logRefusal(ctx, refusal, request.Subject, request.ID)
	if body, err = jsonv2.Marshal(refusal); err != nil {
		return nil, err
	}
	response.StatusCode, response.Body = http.StatusBadRequest, string(body)
	if refusal.Code == http.StatusServiceUnavailable {
		response.Headers["retry-after"] = "1" // second
	}
	return json.Marshal(response)
}

// run returns as much of the request as it could read, even with an error or after a panic.
func (do Operation) run(ctx context.Context, payload []byte) (request Request, body []byte, err error) {
	defer recoverInto(&err)
	var event struct {
		events.APIGatewayV2HTTPRequest
		Body json.RawMessage `json:"body"`
	}
	err = json.Unmarshal(payload, &event)
	request.ID = event.RequestContext.RequestID
	if err != nil {
		return request, nil, fmt.Errorf("malformed event: %w", err)
	}
	if request.Subject, err = readVerdict(event.APIGatewayV2HTTPRequest); err != nil {
		return request, nil, err
	}
	request.ContentType = header(event.Headers, "Content-Type")
	var text string
	if err := jsonv2.Unmarshal(event.Body, &text); err != nil {
		// Package json would replace bytes that are not UTF-8. The operation gets them as they are, and can refuse them.
		text = string(event.Body)
	}
	request.Body = []byte(text)
	if event.IsBase64Encoded {
		if request.Body, err = base64.StdEncoding.DecodeString(text); err != nil {
			return request, nil, fmt.Errorf("malformed event: %w", err)
		}
	}
	answer, err := do(ctx, request)
	if err != nil {
		return request, nil, err
	}
	body, err = jsonv2.Marshal(answer)
	return request, body, err
}

// toError returns the [Error] that err is. If it is none, it becomes the cause of one.
func toError(err error) Error {
	if refusal, ok := errors.AsType[Error](err); ok {
		return refusal
	}
	if errors.Is(err, dynamo.ErrUnavailable) {
		return errUnavailable.Because(err)
	}
	return errInternal.Because(err)
}

// recoverInto makes an error of a panic.
func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// logRefusal logs one line. The alarms in template.yaml count those at level ERROR.
func logRefusal(ctx context.Context, refusal Error, subject, requestID string) {
	level, outcome := slog.LevelInfo, "refused"
	if refusal.Code >= http.StatusInternalServerError {
		level, outcome = slog.LevelError, "failed"
	}
	slog.Log(ctx, level, outcome,
		"error", refusal.Code, "cause", refusal.Error(), "subject", subject, "apigw_request_id", requestID)
}

// header finds a header in any case: API Gateway writes names in lower case, sam local does not. Of several, it always takes
// the same one, so that a verdict is on the header that was verified.
func header(headers map[string]string, name string) string {
	for _, key := range slices.Sorted(maps.Keys(headers)) {
		if strings.EqualFold(key, name) {
			return headers[key]
		}
	}
	return ""
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/tokens"
)

var (
	errUnauthorized = Error{
		Code: http.StatusUnauthorized,
		Message: "A valid token is needed: send the header Authorization: Bearer <ACCESS_TOKEN>. " +
			"If you did, the token is mistyped, expired or revoked: ask the operator for another.",
	}
	errUnchecked = Error{
		Code:    http.StatusServiceUnavailable,
		Message: "Tokens cannot be checked at the moment, and this request stored nothing: send it again in a second.",
	}
)

// Authorizer is the Lambda authorizer of the API, a [lambda.Handler].
type Authorizer struct{ Tokens tokens.Store }

// Invoke lets every request pass, with a verdict on its token. If it stopped one, API Gateway would answer 401 or 403 with
// a body of its own, where clients expect 400 and an Error. So the function refuses the request: see readVerdict.
//
// The verdict is {"code":0,"subject":"alice","header_digest":"…"}. Its code is that of an [Error], or 0.
func (a Authorizer) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	event, subject, err := a.authenticate(ctx, payload)
	var refusal Error
	if err != nil { // the function logs every request, but cannot know the cause of this refusal
		refusal = toError(err)
		logRefusal(ctx, refusal, subject, event.RequestContext.RequestID)
	}
	return json.Marshal(events.APIGatewayV2CustomAuthorizerSimpleResponse{
		IsAuthorized: true,
		Context: map[string]any{
			"code":    refusal.Code,
			"subject": subject,
			// It ties the verdict to one header, so that a cache, or another mistake in the template, never lends it to
			// another client.
			"header_digest": tokens.Digest(header(event.Headers, "Authorization")),
		},
	})
}

// authenticate returns as much as it found out, even with an error or after a panic.
func (a Authorizer) authenticate(
	ctx context.Context, payload []byte,
) (event events.APIGatewayV2CustomAuthorizerV2Request, subject string, err error) {
	defer recoverInto(&err)
	if err := json.Unmarshal(payload, &event); err != nil {
		return event, "", fmt.Errorf("malformed event: %w", err)
	}
	subject, err = tokens.Verify(ctx, a.Tokens, header(event.Headers, "Authorization"))
	if errors.Is(err, tokens.ErrInvalid) {
		err = errUnauthorized.Because(err)
	}
	return event, subject, err
}

// readVerdict returns the subject that the authorizer vouches for. It fails closed: without a verdict on exactly this
// Authorization header, the API has lost its authorizer, and the operator has to know.
func readVerdict(event events.APIGatewayV2HTTPRequest) (subject string, err error) {
	var verdict map[string]any
	if event.RequestContext.Authorizer != nil {
		verdict = event.RequestContext.Authorizer.Lambda
	}
	if verdict["header_digest"] != tokens.Digest(header(event.Headers, "Authorization")) {
		return "", errors.New("the authorizer gave no verdict on this Authorization header")
	}
	subject, _ = verdict["subject"].(string)
	logged := errors.New("the authorizer's line has the cause")
	switch fmt.Sprint(verdict["code"]) { // AWS does not document whether API Gateway passes a number on as one or as text
	case "0":
		if subject == "" {
			return "", errors.New("the authorizer's verdict has no subject")
		}
		return subject, nil
	case "401":
		return "", errUnauthorized.Because(logged)
	case "500":
		return "", errInternal.Because(logged)
	case "503":
		return "", errUnchecked.Because(logged)
	}
	return "", errors.New("the authorizer gave a verdict that this function does not know")
}

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
		Message: "Tokens cannot be checked at the moment, and nothing was stored: send the same request again.",
	}
)

// Authorizer is the Lambda authorizer of the API, a [lambda.Handler].
type Authorizer struct{ Tokens tokens.Store }

// Invoke lets every request pass, with a verdict on its token. If it stopped one, API Gateway would answer 401 or 403 with
// a body of its own, where the specification wants 400 and an Error. So the function refuses the request: see readVerdict.
func (a Authorizer) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var event events.APIGatewayV2CustomAuthorizerV2Request
	subject, err := a.judge(ctx, payload, &event)
	var refusal Error
	switch {
	case errors.Is(err, tokens.ErrInvalid):
		refusal = errUnauthorized.Because(err)
	case err != nil:
		refusal = errUnchecked.Because(err)
	}
	if err != nil { // the function logs every request, but cannot know the cause of this refusal
		logRefusal(ctx, refusal, subject, event.RequestContext.RequestID)
	}
	return json.Marshal(events.APIGatewayV2CustomAuthorizerSimpleResponse{
		IsAuthorized: true,
		Context: map[string]any{
			"error":   refusal.Code,
			"subject": subject,
			// It ties the verdict to one header, so that a cache, or another mistake in the template, never lends it to
			// another client.
			"header": tokens.Digest(header(event.Headers, "Authorization")),
		},
	})
}

func (a Authorizer) judge(
	ctx context.Context, payload []byte, event *events.APIGatewayV2CustomAuthorizerV2Request,
) (subject string, err error) {
	defer recoverInto(&err)
	if err := json.Unmarshal(payload, event); err != nil {
		return "", fmt.Errorf("malformed event: %w", err)
	}
	return tokens.Verify(ctx, a.Tokens, header(event.Headers, "Authorization"))
}

// readVerdict returns the subject that the authorizer vouches for. It fails closed: without a verdict on exactly this
// Authorization header, the API has lost its authorizer, and the operator has to know.
func readVerdict(event events.APIGatewayV2HTTPRequest) (subject string, err error) {
	var verdict map[string]any
	if event.RequestContext.Authorizer != nil {
		verdict = event.RequestContext.Authorizer.Lambda
	}
	if verdict["header"] != tokens.Digest(header(event.Headers, "Authorization")) {
		return "", errors.New("the authorizer gave no verdict on this Authorization header")
	}
	subject, _ = verdict["subject"].(string)
	switch code := fmt.Sprint(verdict["error"]); { // the same for a number and its text, whichever API Gateway passes on
	case code == "0" && subject != "":
		return subject, nil
	case code == fmt.Sprint(errUnauthorized.Code):
		return "", errUnauthorized.Because(errors.New("the authorizer's line has the cause"))
	case code == fmt.Sprint(errUnchecked.Code):
		return "", errUnchecked.Because(errors.New("the authorizer's line has the cause"))
	}
	return "", errors.New("the authorizer gave a verdict that this function does not know")
}

package api

import (
	"context"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"time"

	"plantstore/internal/token"
)

// Authorizer is the Lambda authorizer of the HTTP API.
type Authorizer struct {
	Tokens token.Store
	Log    *slog.Logger
}

// AuthorizerTimeout is the time limit for a call. The function's timeout in template.yaml is longer.
const AuthorizerTimeout = 1700 * time.Millisecond

// authorizerResponse is a simple response in payload format 2.0.
type authorizerResponse struct {
	IsAuthorized bool              `json:"isAuthorized"`
	Context      authorizerContext `json:"context"`
}

// Invoke lets every request through, with a verdict that tells the function whether to refuse it. API Gateway would
// refuse it with a body of its own.
func (a *Authorizer) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := time.Now()
	r, err := a.authenticate(ctx, event)
	if err != nil { // the function logs every request, but does not know why this one was denied
		logRequest(ctx, a.Log, "authorize", r, err, time.Since(start))
	}
	return json.Marshal(authorizerResponse{IsAuthorized: true, Context: newAuthorizerContext(r, err)})
}

func (a *Authorizer) authenticate(ctx context.Context, event []byte) (r request, err error) {
	ctx, cancel := context.WithTimeout(ctx, AuthorizerTimeout)
	defer cancel()
	defer recoverInto(&err)
	r, err = decodeEvent(event)
	if err != nil {
		return r, err
	}
	bearer, err := parseBearer(r.Headers["Authorization"])
	if err != nil {
		return r, err
	}
	t, err := token.Verify(ctx, a.Tokens, bearer) // to accept another kind of token, verify it here
	r.caller = caller{tokenID: t.ID, subject: t.Subject}
	return r, err
}

// authorizerContext is what API Gateway passes from the authorizer to the function. During a deployment, either of them
// may be the older version.
type authorizerContext struct {
	Verdict string `json:"verdict"` // "allow", "deny" or "unavailable"

	// HeaderDigest is the [token.Digest] of the Authorization header. The function compares it with the header that it gets
	// itself, so a verdict never applies to another caller's request.
	HeaderDigest string `json:"header_digest"`

	// Set only with "allow".
	Subject string `json:"subject,omitzero"`
	TokenID string `json:"token_id,omitzero"`
}

func newAuthorizerContext(r request, err error) authorizerContext {
	c := authorizerContext{HeaderDigest: token.Digest(r.Headers["Authorization"])}
	switch {
	case err == nil:
		c.Verdict = "allow"
		c.Subject = r.caller.subject
		c.TokenID = r.caller.tokenID
	case entryOf(err).isServiceFault():
		c.Verdict = "unavailable"
	default: // the token is missing, malformed or invalid
		c.Verdict = "deny"
	}
	return c
}

// caller is the client that sent a request. In the authorizer, it is set even if the token has expired or is revoked.
type caller struct {
	tokenID string
	subject string
}

// findCaller fails closed: without a verdict on this very Authorization header, it returns an internal error.
func findCaller(authorization string, c authorizerContext) (caller, error) {
	if _, err := parseBearer(authorization); err != nil {
		return caller{}, err
	}
	switch {
	case c.HeaderDigest != token.Digest(authorization):
		return caller{}, errors.New("api: no verdict on this Authorization header")
	case c.Verdict == "allow" && c.Subject != "" && c.TokenID != "":
		return caller{tokenID: c.TokenID, subject: c.Subject}, nil
	case c.Verdict == "deny":
		return caller{}, token.ErrInvalid
	case c.Verdict == "unavailable":
		return caller{}, token.ErrUnavailable
	}
	return caller{}, errors.New("api: unknown or incomplete verdict")
}

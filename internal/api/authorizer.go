package api

import (
	"context"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"time"

	"plantstore/internal/token"
)

// Authorizer is the Lambda authorizer of the HTTP API, a lambda.Handler.
type Authorizer struct {
	Tokens token.Store
	Log    *slog.Logger
}

const authorizerTimeout = 1700 * time.Millisecond // from the event on; template.yaml gives the function more

// authorizerResponse is a simple response of payload format 2.0.
type authorizerResponse struct {
	IsAuthorized bool    `json:"isAuthorized"`
	Context      verdict `json:"context"`
}

// Invoke answers an authorizer event of payload format 2.0. It lets every request pass, with a verdict by which the
// function decides: API Gateway would refuse with a body of its own.
func (a *Authorizer) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := time.Now()
	r, err := a.authenticate(ctx, event)
	if err != nil { // otherwise the function's line says all
		logRequest(ctx, a.Log, "authorize", r, err, time.Since(start))
	}
	return json.Marshal(authorizerResponse{IsAuthorized: true, Context: newVerdict(r, err)})
}

func (a *Authorizer) authenticate(ctx context.Context, event []byte) (r request, err error) {
	ctx, cancel := context.WithTimeout(ctx, authorizerTimeout)
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
	r.caller, err = token.Verify(ctx, a.Tokens, bearer) // or verify tokens of another kind here
	return r, err
}

// verdict says what the authorizer found out about a token. API Gateway passes it on to the function. The function
// compares Presented with the Authorization value that it sees itself, so that a verdict never serves another caller.
//
// While a deployment shifts traffic, two versions meet. So deploy a function that understands a new verdict before the
// authorizer that sends it.
type verdict struct {
	Decision  string `json:"verdict"`           // "allow", "deny" or "unavailable"
	Presented string `json:"presented"`         // [token.Digest] of the Authorization value
	Subject   string `json:"subject,omitzero"`  // of an "allow"
	TokenID   string `json:"token_id,omitzero"` // of an "allow"
}

func newVerdict(r request, err error) verdict {
	presented := token.Digest(r.Headers["Authorization"])
	switch {
	case err == nil:
		return verdict{Decision: "allow", Presented: presented, Subject: r.caller.Subject, TokenID: r.caller.ID}
	case entryOf(err).isServiceFault():
		return verdict{Decision: "unavailable", Presented: presented}
	}
	return verdict{Decision: "deny", Presented: presented} // the token is missing, malformed or invalid
}

// callerOf returns the token of the request that came with authorization: its id and its subject. Without a well-formed
// one it returns the error of [parseBearer]. Otherwise it fails closed: anything but a verdict on this very value is an
// internal error.
func (v verdict) callerOf(authorization string) (token.Token, error) {
	if _, err := parseBearer(authorization); err != nil {
		return token.Token{}, err
	}
	switch {
	case v.Presented != token.Digest(authorization):
		return token.Token{}, errors.New("api: no verdict on this Authorization value")
	case v.Decision == "allow" && v.Subject != "" && v.TokenID != "":
		return token.Token{ID: v.TokenID, Subject: v.Subject}, nil
	case v.Decision == "deny":
		return token.Token{}, token.ErrInvalid
	case v.Decision == "unavailable":
		return token.Token{}, token.ErrUnavailable
	}
	return token.Token{}, errors.New("api: unknown or incomplete verdict")
}

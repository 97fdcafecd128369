package api

import (
	"context"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/token"
)

// Authorizer is the Lambda authorizer of the HTTP API, a lambda.Handler. It leaves the refusal to the function.
type Authorizer struct {
	Verifier token.Verifier
	Log      *slog.Logger
}

const slowCheck = 500 * time.Millisecond // from which the check of an allowed request is logged

// authorizerResponse is a simple response of payload format 2.0.
type authorizerResponse struct {
	IsAuthorized bool    `json:"isAuthorized"`
	Context      verdict `json:"context"`
}

// Invoke answers an authorizer event of payload format 2.0. Only [Service.Invoke] checks the verdict: a function that does
// not go through it is open to everybody.
func (a *Authorizer) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := time.Now()
	r, err := a.authenticate(ctx, event)
	took := time.Since(start)
	o := classify(err)
	if err != nil || took >= slowCheck { // otherwise the function's line says all
		a.Log.LogAttrs(ctx, o.level(), "authorize", o.attributes(ctx, r, took)...)
	}
	return json.Marshal(authorizerResponse{
		// Otherwise API Gateway would answer 403 itself, with a body of its own.
		IsAuthorized: true,
		Context:      newVerdict(r.Headers["authorization"], r.principal, o),
	})
}

func (a *Authorizer) authenticate(ctx context.Context, event []byte) (r request, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget.AuthorizerWait)
	defer cancel()
	defer recoverInto(&err)
	r, err = decodeEvent(event)
	if err != nil {
		return r, err
	}
	bearer, err := parseBearer(r.Headers["authorization"])
	if err != nil {
		return r, err
	}
	r.principal, err = a.Verifier.Verify(ctx, bearer)
	return r, err
}

// verdict is the authorizer's finding on a token, which API Gateway passes on to the function. The function compares
// Presented with the Authorization value that it sees itself, so that a verdict never serves another caller.
//
// While a deployment shifts traffic, two versions meet. So a function that understands a new finding comes before the
// authorizer that sends it.
type verdict struct {
	Finding   string `json:"verdict"`           // "allow", "deny" or "unavailable"
	Presented string `json:"presented"`         // [token.Digest] of the Authorization value
	Subject   string `json:"subject,omitzero"`  // of an "allow"
	TokenID   string `json:"token_id,omitzero"` // of an "allow"
}

func newVerdict(authorization string, p token.Principal, o outcome) verdict {
	presented := token.Digest(authorization)
	switch {
	case o.err == nil:
		return verdict{Finding: "allow", Presented: presented, Subject: p.Subject, TokenID: p.TokenID}
	case !o.isServiceFault(): // the token is missing, malformed or invalid
		return verdict{Finding: "deny", Presented: presented}
	}
	return verdict{Finding: "unavailable", Presented: presented}
}

// principalFor returns the principal of the request that came with authorization. Without a well-formed token it returns
// the error of [parseBearer]. Otherwise it fails closed: anything but a verdict on this very value is an internal error.
func (v verdict) principalFor(authorization string) (token.Principal, error) {
	if _, err := parseBearer(authorization); err != nil {
		return token.Principal{}, err
	}
	switch {
	case v.Presented != token.Digest(authorization):
		return token.Principal{}, errors.New("api: no verdict on this Authorization value")
	case v.Finding == "allow" && v.Subject != "" && v.TokenID != "":
		return token.Principal{Subject: v.Subject, TokenID: v.TokenID}, nil
	case v.Finding == "deny":
		return token.Principal{}, token.ErrInvalid
	case v.Finding == "unavailable":
		return token.Principal{}, token.ErrUnavailable
	}
	return token.Principal{}, errors.New("api: unknown or incomplete verdict")
}

package api

import (
	"context"
	"encoding/json/v2"
	"log/slog"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/token"
)

// Authorizer is the Lambda authorizer of the HTTP API. It checks the bearer token and leaves the
// refusal to the function.
type Authorizer struct {
	Verifier token.Verifier
	Log      *slog.Logger
}

// The check of an allowed request is logged only if it takes slowCheck or longer.
const slowCheck = 500 * time.Millisecond

// authorizerResponse is an authorizer's simple response of payload format 2.0.
type authorizerResponse struct {
	IsAuthorized bool    `json:"isAuthorized"`
	Context      verdict `json:"context"`
}

// Invoke answers an authorizer event of payload format 2.0. Its error is nil unless the answer cannot be
// encoded. Only [Service.Invoke] checks the verdict: a function that does not go through it is open to
// everybody.
func (a *Authorizer) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := time.Now()
	r, err := a.authenticate(ctx, event)
	took := time.Since(start)
	o := classify(err)
	if err != nil || took >= slowCheck { // otherwise the function's line says all
		a.Log.LogAttrs(ctx, o.level(), "authorize", o.attributes(ctx, r, took)...)
	}
	return json.Marshal(authorizerResponse{
		// The function refuses, with an Error of the catalogue. If IsAuthorized were false, API Gateway
		// would answer 403 itself, with a body of its own.
		IsAuthorized: true,
		// If the event cannot be decoded, r has no headers, and the verdict is on an empty Authorization value. The
		// function then answers 5001 to a request that has a well-formed header.
		Context: newVerdict(r.Headers["authorization"], r.principal, o),
	})
}

// authenticate returns the request with the principal of its token.
func (a *Authorizer) authenticate(ctx context.Context, event []byte) (r request, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget.AuthorizerWait)
	defer cancel()
	defer recoverInto(&err) // makes an error of a panic
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

package api

import (
	"context"
	"encoding/json/v2"
	"log/slog"
	"time"

	"plantstore/internal/token"
)

// Authorizer is the Lambda authorizer of the HTTP API. It checks the bearer
// token and leaves the refusal to the function. See verdict.go.
type Authorizer struct {
	Tokens token.Finder
	Log    *slog.Logger

	// Now is the clock, by which tokens expire.
	Now func() time.Time
}

// authorization is an authorizer's simple response of payload format 2.0.
type authorization struct {
	IsAuthorized bool    `json:"isAuthorized"`
	Context      verdict `json:"context"`
}

// Invoke answers an authorizer event of payload format 2.0. It always answers;
// its error is nil unless the answer itself cannot be encoded.
func (a *Authorizer) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	start := a.Now()
	var r request
	t, err := guard(ctx, func(ctx context.Context) (token.Token, error) {
		return a.authenticate(ctx, event, &r)
	})
	record{
		requestID: r.RequestContext.RequestID,
		subject:   t.Subject,
		tokenID:   t.ID,
		duration:  a.Now().Sub(start),
		err:       err,
	}.log(ctx, a.Log, "authorize")
	return json.Marshal(authorization{
		IsAuthorized: true,
		Context:      newVerdict(r.Headers.authorization.value, t, err),
	})
}

func (a *Authorizer) authenticate(ctx context.Context, event []byte, r *request) (token.Token, error) {
	if err := r.decode(event); err != nil {
		return token.Token{}, err
	}
	secret, err := bearer(r.Headers.authorization.value)
	if err != nil {
		return token.Token{}, err
	}
	return token.Verify(ctx, a.Tokens, secret, a.Now())
}

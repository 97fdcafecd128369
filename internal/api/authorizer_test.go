package api

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer gives the verdict that the function expects, whatever verifies the token. While a deployment shifts
// traffic, the function may be of the version before, so it gives no other. The verifier has 1.7 s. An allowed request is logged only if its check was slow, because the function's line says the same.
func TestAuthorizer(t *testing.T) {
	alice := token.Principal{Subject: "alice", TokenID: "t1"}
	const allow = `{"verdict":"allow","presented":"HASH","subject":"alice","token_id":"t1"}`
	const deny, unavailable = `{"verdict":"deny","presented":"HASH"}`, `{"verdict":"unavailable","presented":"HASH"}`
	const logged = ` msg=authorize request_id=r1 lambda_request_id=i1 code=`
	tests := []struct {
		name          string
		authorization string
		took          time.Duration // to verify the token
		principal     token.Principal
		err           error
		want          string
		log           string
	}{
		{name: "a valid token", took: 499 * time.Millisecond, principal: alice, want: allow},
		{
			name: "a valid token, and a slow check", took: 500 * time.Millisecond, principal: alice, want: allow,
			log: "level=INFO" + logged + "0 subject=alice token_id=t1 duration_ms=500",
		},
		{
			name: "two tokens", authorization: "Bearer canary, canary", want: deny,
			log: "level=INFO" + logged + `2002 subject="" token_id="" duration_ms=0`,
		},
		{
			name: "an expired token", principal: alice, err: token.ReasonExpired, want: deny,
			log: "level=INFO" + logged + "2003 subject=alice token_id=t1 duration_ms=0 reason=expired",
		},
		{
			name: "an unavailable store", err: token.ErrUnavailable, want: unavailable,
			log: "level=ERROR" + logged + `5003 subject="" token_id="" duration_ms=0 error="token: store is unavailable"`,
		},
		{
			name: "an unknown error", err: errors.New("the cause"), want: unavailable,
			log: "level=ERROR" + logged + `5001 subject="" token_id="" duration_ms=0 error="the cause"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				authorization := cmp.Or(test.authorization, credentials)
				start := time.Now()
				got, line := authorized(t, func(ctx context.Context, bearer string) (token.Principal, error) {
					deadline, _ := ctx.Deadline()
					if limit := deadline.Sub(start); bearer != canary || limit != 1700*time.Millisecond {
						t.Errorf("the verifier is asked for %q within %v, want the bearer alone within 1.7 s", bearer, limit)
					}
					time.Sleep(test.took)
					return test.principal, test.err
				}, event(map[string]string{"authorization": authorization}, "", nil), authorization)
				if got != test.want {
					t.Errorf("verdict = %s, want %s", got, test.want)
				}
				if line != test.log {
					t.Errorf("log =\n%s, want\n%s", line, test.log)
				}
			})
		})
	}
}

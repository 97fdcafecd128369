package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer gives the verdict that the function expects. While a deployment shifts traffic, the function may be
// of the version before, so it gives no other. The store has 1.7 s. An allowed request is not logged: the function's
// line says the same.
func TestAuthorizer(t *testing.T) {
	const (
		allow       = `{"verdict":"allow","presented":"HASH","subject":"alice","token_id":"AliceTokenId"}`
		deny        = `{"verdict":"deny","presented":"HASH"}`
		unavailable = `{"verdict":"unavailable","presented":"HASH"}`
		logged      = ` msg=authorize request_id=r1 code=`
		nobody      = ` subject="" token_id="" duration_ms=0`
		alice       = ` subject=alice token_id=AliceTokenId duration_ms=0`
	)
	tests := []struct {
		name          string
		authorization string
		validFor      time.Duration
		err           error // of the store
		want          string
		log           string
	}{
		{name: "a valid token", authorization: credentials, validFor: time.Hour, want: allow},
		{
			name: "an expired token", authorization: credentials, want: deny,
			log: "level=INFO" + logged + "2003" + alice + " reason=expired",
		},
		{
			name: "a valid token with a tail", authorization: credentials + "x", want: deny,
			log: "level=INFO" + logged + "2003" + nobody + " reason=form",
		},
		{
			name: "two tokens", authorization: "Bearer sentinel, sentinel", want: deny,
			log: "level=INFO" + logged + "2002" + nobody,
		},
		{
			name: "an unavailable store", authorization: credentials, err: token.ErrUnavailable, want: unavailable,
			log: "level=ERROR" + logged + "5003" + nobody + ` error="token: store is unavailable"`,
		},
		{
			name: "an unknown error", authorization: credentials, err: errors.New("the cause"), want: unavailable,
			log: "level=ERROR" + logged + "5001" + nobody + ` error="the cause"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, line := callAuthorizer(t, func(ctx context.Context, id string) (token.Token, error) {
					if deadline, _ := ctx.Deadline(); deadline.Sub(start) != 1700*time.Millisecond {
						t.Errorf("the store has %v, want 1.7 s", deadline.Sub(start))
					}
					digest := token.Digest(bearer)
					return token.Token{ID: id, Digest: digest, Subject: "alice", ExpiresAt: start.Add(test.validFor)}, test.err
				}, event(map[string]string{"authorization": test.authorization}, "", nil), test.authorization)
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

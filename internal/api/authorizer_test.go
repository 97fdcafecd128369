package api

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer's verdict is one that even the previous version of the function knows. Only a request that is not
// allowed is logged, because the function logs every request. The store has 1.7 s.
func TestAuthorizer(t *testing.T) {
	const (
		logged = ` msg=authorize apigw_request_id=r1 code=`
		nobody = ` subject="" token_id="" duration_ms=0`
		alice  = ` subject=alice token_id=ALICETOKENID duration_ms=0`
	)
	tests := []struct {
		name          string
		authorization string
		validFor      time.Duration
		err           error // from the store
		want          map[string]string
		log           string
	}{
		{name: "a valid token", authorization: credentials, validFor: time.Hour, want: allow(credentials)},
		{
			name: "an expired token", authorization: credentials, want: verdict(credentials, "deny"),
			log: "level=INFO" + logged + "2003" + alice + ` reason="token: invalid: expired"`,
		},
		{
			name: "a valid token with a tail", authorization: credentials + "x", want: verdict(credentials+"x", "deny"),
			log: "level=INFO" + logged + "2003" + nobody + ` reason="token: invalid: mistyped"`,
		},
		{
			name: "two tokens", authorization: "Bearer sentinel, sentinel", want: verdict("Bearer sentinel, sentinel", "deny"),
			log: "level=INFO" + logged + "2002" + nobody + ` reason="api: Authorization header is malformed"`,
		},
		{
			name: "an unavailable store", authorization: credentials, err: token.ErrUnavailable,
			want: verdict(credentials, "unavailable"),
			log:  "level=ERROR" + logged + "5003" + nobody + ` error="token: store is unavailable"`,
		},
		{
			name: "an unknown error", authorization: credentials, err: errors.New("the cause"),
			want: verdict(credentials, "unavailable"),
			log:  "level=ERROR" + logged + "5001" + nobody + ` error="the cause"`,
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
				}, event(map[string]string{"authorization": test.authorization}, "", nil))
				if !maps.Equal(got, test.want) {
					t.Errorf("context = %v, want %v", got, test.want)
				}
				if line != test.log {
					t.Errorf("log =\n%s, want\n%s", line, test.log)
				}
			})
		})
	}
}

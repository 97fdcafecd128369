package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer gives the verdict that the function expects, whatever verifies the token. The verifier has
// 1.7 s. An allowed request is logged only if its check was slow, because the function's line says the same.
func TestAuthorizer(t *testing.T) {
	alice := token.Principal{Subject: "alice", TokenID: "t1"}
	allow := verdict{Finding: "allow", Subject: "alice", TokenID: "t1"}
	deny := verdict{Finding: "deny"}
	tests := []struct {
		name          string
		authorization string
		took          time.Duration   // to verify the token
		principal     token.Principal // of the verifier, also in the log
		err           error           // of the verifier
		want          verdict         // without the hash
		level         string          // in the log, as what follows; "" if nothing is logged
		code          float64
		reason        any
	}{
		{
			name: "a valid token", authorization: credentials, took: 499 * time.Millisecond, principal: alice,
			want: allow,
		},
		{
			name: "a valid token, and a slow check", authorization: credentials, took: 500 * time.Millisecond, principal: alice,
			want: allow, level: "INFO",
		},
		{name: "two tokens", authorization: "Bearer canary, canary", want: deny, level: "INFO", code: 2002},
		{
			name: "an expired token", authorization: credentials, principal: alice, err: token.ReasonExpired,
			want: deny, level: "INFO", code: 2003, reason: "expired",
		},
		{
			name: "an unavailable store", authorization: credentials, err: token.ErrUnavailable,
			want: verdict{Finding: "unavailable"}, level: "ERROR", code: 5003,
		},
		{
			name: "an unknown error", authorization: credentials, err: errors.New("the cause"),
			want: verdict{Finding: "unavailable"}, level: "ERROR", code: 5001,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				verify := func(ctx context.Context, bearer string) (token.Principal, error) {
					if bearer != canary {
						t.Errorf("the verifier is asked for %q, want the bearer alone", bearer)
					}
					if deadline, _ := ctx.Deadline(); deadline != start.Add(1700*time.Millisecond) {
						t.Errorf("the verifier has until %v, want 1.7 s from %v", deadline, start)
					}
					time.Sleep(test.took)
					return test.principal, test.err
				}
				got, line := checkedVerdict(t, verify, event(map[string]string{"authorization": test.authorization}, "", nil))
				want := test.want
				want.Presented = token.Digest(test.authorization)
				if got != want {
					t.Errorf("verdict = %+v, want %+v", got, want)
				}
				if test.level == "" {
					if line != nil {
						t.Errorf("log = %v, want no line", line)
					}
					return
				}
				if line["msg"] != "authorize" || line["level"] != test.level {
					t.Errorf("log = %v, want an authorization at the level %s", line, test.level)
				}
				if line["code"] != test.code || line["reason"] != test.reason {
					t.Errorf("log = %v, want the code %v and the reason %v", line, test.code, test.reason)
				}
				if line["subject"] != test.principal.Subject || line["token_id"] != test.principal.TokenID {
					t.Errorf("log = %v, want the subject and token id of %+v", line, test.principal)
				}
			})
		})
	}
}

// A panic is an internal error.
func TestAuthorizerPanic(t *testing.T) {
	verify := func(context.Context, string) (token.Principal, error) { panic("the cause") }
	got, line := checkedVerdict(t, verify, event(nil, "", nil))
	if got.Finding != "unavailable" || line["code"] != 5001.0 {
		t.Errorf("verdict = %+v, logged as %v, want unavailable and the code 5001", got, line)
	}
}

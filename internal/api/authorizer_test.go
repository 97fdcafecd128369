package api

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer gives the verdict that the function expects, whatever verifies the token. Only its log
// names an invalid token.
func TestAuthorizer(t *testing.T) {
	alice := token.Principal{Subject: "alice", TokenID: "t1"}
	verifies := func(p token.Principal, err error) verify {
		return func(_ context.Context, bearer string) (token.Principal, error) {
			if bearer != canary {
				t.Errorf("the verifier is asked for %q, want the bearer alone", bearer)
			}
			return p, err
		}
	}
	panics := func(context.Context, string) (token.Principal, error) { panic("the cause") }
	deny := func(reason string) verdict { return verdict{Verdict: "deny", Reason: reason} }
	tests := []struct {
		name          string
		authorization string
		verify        verify
		want          verdict // without the hash
		code          float64 // in the log, as what follows
		reason        any
		principal     token.Principal
	}{
		{
			name: "a valid token", authorization: credentials, verify: verifies(alice, nil),
			want: verdict{Verdict: "allow", Subject: "alice", TokenID: "t1"}, principal: alice,
		},
		{name: "no header", authorization: "", want: deny("missing"), code: 2001},
		{name: "two tokens", authorization: "Bearer canary, canary", want: deny("malformed"), code: 2002},
		{
			name: "an expired token", authorization: credentials, verify: verifies(alice, token.ReasonExpired),
			want: deny("invalid"), code: 2003, reason: "expired", principal: alice,
		},
		{
			name: "an unavailable store", authorization: credentials, verify: verifies(token.Principal{}, token.ErrUnavailable),
			want: verdict{Verdict: "unavailable"}, code: 5003,
		},
		{
			name: "an unknown error", authorization: credentials, verify: verifies(token.Principal{}, errors.New("the cause")),
			want: verdict{Verdict: "unavailable"}, code: 5001,
		},
		{
			name: "a panic", authorization: credentials, verify: panics,
			want: verdict{Verdict: "unavailable"}, code: 5001,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, line := checkedVerdict(t, test.verify, event(map[string]string{"authorization": test.authorization}, "", nil))
			want := test.want
			want.Presented = token.Digest(test.authorization)
			if got != want {
				t.Errorf("verdict = %+v, want %+v", got, want)
			}
			if line["msg"] != "authorize" || line["code"] != test.code || line["reason"] != test.reason {
				t.Errorf("log = %v, want an authorization with the code %v and the reason %v", line, test.code, test.reason)
			}
			if line["subject"] != test.principal.Subject || line["token_id"] != test.principal.TokenID {
				t.Errorf("log = %v, want the subject and token id of %+v", line, test.principal)
			}
		})
	}
}

// The authorizer's line of an allowed request repeats the function's, so it is logged at DEBUG, unless
// the call was slow.
func TestAllowThatIsLogged(t *testing.T) {
	tests := []struct {
		name  string
		took  time.Duration
		level string
	}{
		{name: "a fast call", took: 499 * time.Millisecond, level: "DEBUG"},
		{name: "a slow call", took: 500 * time.Millisecond, level: "INFO"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := start
			newAuthorizer := func(log *slog.Logger) handler {
				verify := func(context.Context, string) (token.Principal, error) {
					now = now.Add(test.took)
					return token.Principal{Subject: "alice", TokenID: "t1"}, nil
				}
				return &Authorizer{Verify: verify, Log: log, Now: func() time.Time { return now }}
			}
			_, line := invoke(t, newAuthorizer, event(nil, "", nil))
			if line["level"] != test.level {
				t.Errorf("log = %v, want level %s", line, test.level)
			}
		})
	}
}

// The verifier has the time of the authorizer's budget.
func TestAuthorizerDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		checkedVerdict(t, func(ctx context.Context, _ string) (token.Principal, error) {
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
			return token.Principal{}, token.ErrUnavailable
		}, event(nil, "", nil))
		if want := 1700 * time.Millisecond; left != want {
			t.Errorf("the verifier has %v, want %v", left, want)
		}
	})
}

package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// The authorizer gives the verdict that the function expects, whatever verifies the token, within its
// budget. Only its log names an invalid token. The line of an allowed request repeats the function's, so
// it is logged at DEBUG, unless the call was slow.
func TestAuthorizer(t *testing.T) {
	alice := token.Principal{Subject: "alice", TokenID: "t1"}
	allow := verdict{Verdict: "allow", Subject: "alice", TokenID: "t1"}
	deny := verdict{Verdict: "deny"}
	tests := []struct {
		name          string
		authorization string
		took          time.Duration   // to verify the token
		principal     token.Principal // of the verifier, also in the log
		err           error           // of the verifier
		want          verdict         // without the hash
		level         string          // in the log, as what follows
		code          float64
		reason        any
	}{
		{
			name: "a valid token", authorization: credentials, took: 499 * time.Millisecond, principal: alice,
			want: allow, level: "DEBUG",
		},
		{
			name: "a valid token, and a slow call", authorization: credentials, took: 500 * time.Millisecond, principal: alice,
			want: allow, level: "INFO",
		},
		{name: "an empty header", want: deny, level: "INFO", code: 2001},
		{name: "two tokens", authorization: "Bearer canary, canary", want: deny, level: "INFO", code: 2002},
		{
			name: "an expired token", authorization: credentials, principal: alice, err: token.ReasonExpired,
			want: deny, level: "INFO", code: 2003, reason: "expired",
		},
		{
			name: "an unavailable store", authorization: credentials, err: token.ErrUnavailable,
			want: verdict{Verdict: "unavailable"}, level: "ERROR", code: 5003,
		},
		{
			name: "an unknown error", authorization: credentials, err: errors.New("the cause"),
			want: verdict{Verdict: "unavailable"}, level: "ERROR", code: 5001,
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
	if got.Verdict != "unavailable" || line["code"] != 5001.0 {
		t.Errorf("verdict = %+v, logged as %v, want unavailable and the code 5001", got, line)
	}
}

// A token follows the scheme Bearer, in whatever case. Another scheme has no token of ours, and two
// tokens are malformed.
func TestBearer(t *testing.T) {
	tests := []struct {
		name, authorization string
		want                string
		err                 error
	}{
		{"a token", "Bearer -._~+/=", "-._~+/=", nil},
		{"another case", "bEARER a", "a", nil},
		{"three spaces", "Bearer   a", "a", nil},
		{"a space before", " Bearer a", "", errTokenMissing},
		{"another scheme, which is longer", "Bearers a", "", errTokenMissing},
		{"no token", "Bearer", "", errTokenMalformed},
		{"two tokens", "Bearer a b", "", errTokenMalformed},
		{"a token in quotes", `Bearer "a"`, "", errTokenMalformed},
		{"a space after", "Bearer a ", "", errTokenMalformed},
		{"a tab for the space", "Bearer\ta", "", errTokenMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseBearer(test.authorization)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("parseBearer(%q) = %q, %v, want %q, %v", test.authorization, got, err, test.want, test.err)
			}
		})
	}
}

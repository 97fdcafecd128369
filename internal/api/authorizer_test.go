package api

import (
	"errors"
	"fmt"
	"testing"

	"plantstore/internal/token"
)

func TestBearer(t *testing.T) {
	for want, values := range map[error][]string{
		nil:             {"Bearer -._~+/=", "bEARER -._~+/=", "Bearer   -._~+/="},
		errTokenMissing: {"", " ", "Basic a", "Bearers a", "a", "Bearer,a", "ſearer a", " Bearer a"},
		errTokenMalformed: {
			"Bearer", "Bearer ", "Bearer   ", "Bearer a b", "Bearer a ", "Bearer a,b", "Bearer a,Bearer a", "Bearer\ta",
			"Bearer \ta", "Bearer a\tb", `Bearer "a"`, "Bearer ä",
		},
	} {
		secret := map[bool]string{true: "-._~+/="}[want == nil]
		for _, value := range values {
			if got, err := bearer(value); got != secret || err != want { //nolint:errorlint // the very error
				t.Errorf("bearer(%q) = %q, %v, want %q, %v", value, got, err, secret, want)
			}
		}
	}
}

func TestAuthorizer(t *testing.T) {
	const unavailable = `"verdict":"unavailable","presented":"%s"`
	deny := func(reason string) string { return `"verdict":"deny","presented":"%s","reason":"` + reason + `"` }
	for _, test := range []struct {
		authorization string
		fail          verifier
		want          string // %s is the hash of authorization
		code          int32  // in the log
	}{
		{credentials, nil, `"verdict":"allow","presented":"%s",` + gardener, 0},
		{"", nil, deny("missing"), 2001},
		{"Bearer canary, canary", nil, deny("malformed"), 2002},
		{"Bearer other-canary", nil, deny("invalid"), 2003},
		{credentials, fails(token.ErrUnavailable), unavailable, 5003},
		{credentials, fails(errors.New("the cause")), unavailable, 5001},
		{credentials, func() error { panic("the cause") }, unavailable, 5001},
	} {
		request := event(map[string]string{"authorization": test.authorization}, "", "")
		got, line := authorize(t, test.fail, request)
		want := fmt.Sprintf(`{"isAuthorized":true,"context":{`+test.want+`}}`, token.Digest(test.authorization))
		if got != want {
			t.Errorf("Invoke = %s, logged as %v, want %s", got, line, want)
		}
		checkLine(t, line, "authorize", test.code, test.code == 0)
	}
}

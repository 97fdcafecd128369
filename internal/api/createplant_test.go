package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A request to any route passes only with a well-formed token and an allow for that Authorization header. All other
// checks come later.
func TestAuthentication(t *testing.T) {
	allowWithout := func(member string) map[string]string {
		c := allow(credentials)
		delete(c, member)
		return c
	}
	const malformed = "Bearer sentinel\uFFFD"
	tests := []struct {
		name          string
		authorization string
		context       map[string]string // from the authorizer
		want          answer
	}{
		{"no token, and no authorizer ran", "", nil, refusal(2001)},
		{"no token, and an allow", "", allow(""), refusal(2001)},
		{"a malformed token, and no authorizer ran", malformed, nil, refusal(2002)},
		{"a malformed token, and an allow", malformed, allow(malformed), refusal(2002)},

		{"an invalid token", credentials, verdict(credentials, "deny"), refusal(2003)},
		{
			"a token that cannot be checked", credentials, verdict(credentials, "unavailable"),
			answer{status: 400, code: 5003, retryAfter: "1"},
		},

		{"no authorizer ran", credentials, nil, refusal(5001)},
		{"an unknown verdict", credentials, verdict(credentials, "maybe"), refusal(5001)},
		{"an allow without a digest", credentials, allowWithout("header_digest"), refusal(5001)},
		{"an allow for another header", credentials, allow("Bearer other"), refusal(5001)},
		{"a deny for another header", credentials, verdict("Bearer other", "deny"), refusal(5001)},
		{"unavailable for another header", credentials, verdict("Bearer other", "unavailable"), refusal(5001)},
		{"an allow without a subject", credentials, allowWithout("subject"), refusal(5001)},
		{"an allow without a token id", credentials, allowWithout("token_id"), refusal(5001)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := map[string]string{"authorization": test.authorization, "content-type": "text/plain"}
			for route := range Routes(nil, nil) {
				got, line := call(t, route, nil, event(headers, "", test.context))
				if got != test.want || !strings.Contains(line, ` subject="" token_id="" `) {
					t.Errorf("%s = %+v, logged as %s, want %+v, and no subject", route, got, line, test.want)
				}
			}
		})
	}
}

// If several things are wrong with a request, the first check decides. test/contract has a request for each check.
func TestChecks(t *testing.T) {
	key := func(key string) map[string]string { return map[string]string{"idempotency-key": key} }
	tests := []struct {
		name    string
		headers map[string]string
		body    string
		want    answer
	}{
		{
			"another content type, and a malformed key",
			map[string]string{"content-type": "text/plain", "idempotency-key": "a b"},
			"", refusal(1001),
		},
		{"a malformed key, and no body", key("a b"), "", refusal(1006)},
		{"an empty key", key(""), validBody, refusal(1006)},
		{"an invisible character in the key", key("a\x7f"), validBody, refusal(1006)},
		{"the shortest key, and no body", key("!"), "", refusal(1002)},
		{"the longest key, and no body", key(strings.Repeat("~", 255)), "", refusal(1002)},
		{"a longer key", key(strings.Repeat("~", 256)), validBody, refusal(1006)},
		{
			"a duplicate name", nil, `{"sentinel":1,"sentinel":2}`,
			answer{status: 400, code: 1003, reason: "there is a repeated name after byte 14"},
		},
		{
			"a body that is not a NewPlant", nil, `{"id":null,"sentinel":1}`,
			answer{status: 400, code: 1004, reason: "id must be an integer; name is required"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _ := call(t, createRoute, nil, event(test.headers, test.body, allow(credentials)))
			if got != test.want {
				t.Errorf("Invoke = %+v, want %+v", got, test.want)
			}
		})
	}
}

// Only the log has the text of an unexpected error. A store that hangs gets 2.7 s.
func TestOutcomes(t *testing.T) {
	const (
		logged = ` msg="create plant" apigw_request_id=r1 code=`
		alice  = ` subject=alice token_id=ALICETOKENID duration_ms=`
	)
	unavailable := answer{status: 400, code: 5002, retryAfter: "1", idempotencyKey: "first"}
	tests := []struct {
		name string
		took time.Duration // in the store
		err  error         // from the store
		want answer
		log  string
	}{
		{
			name: "the plant is created", want: answer{status: 200, body: `{"name":"sentinel"}`},
			log: "level=INFO" + logged + "0" + alice + "0",
		},
		{
			name: "the id exists", err: plant.ErrExists, want: refusal(3001),
			log: "level=INFO" + logged + "3001" + alice + `0 reason="plant: id exists: the cause"`,
		},
		{
			name: "the key was used", err: plant.ErrKeyReused, want: refusal(3002),
			log: "level=INFO" + logged + "3002" + alice + `0 reason="plant: write key was used with another plant: the cause"`,
		},
		{
			name: "an unexpected error", err: errors.New("unexpected"), want: refusal(5001),
			log: "level=ERROR" + logged + "5001" + alice + `0 error="unexpected: the cause"`,
		},
		{
			name: "the store is unavailable", took: 1500 * time.Microsecond, err: plant.ErrUnavailable, want: unavailable,
			log: "level=ERROR" + logged + "5002" + alice + `1.5 error="plant: store is unavailable: the cause"`,
		},
		{
			name: "the store hangs", took: time.Hour, err: plant.ErrUnavailable, want: unavailable,
			log: "level=ERROR" + logged + "5002" + alice + `2700 error="plant: store is unavailable: the cause"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wantWrite := plant.Write{
					NewPlant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: sentinel}},
					WriteKey: plant.NewWriteKey("alice", "first"),
					Subject:  "alice",
					Time:     time.Now().UTC(),
				}
				store := func(ctx context.Context, got plant.Write) error {
					if !reflect.DeepEqual(got, wantWrite) {
						t.Errorf("the store is asked to create %+v, want %+v", got, wantWrite)
					}
					select {
					case <-time.After(test.took):
					case <-ctx.Done():
					}
					if test.err == nil {
						return nil
					}
					return fmt.Errorf("%w: the cause", test.err)
				}
				sent := event(map[string]string{"idempotency-key": "first"}, validBody, allow(credentials))
				got, line := call(t, createRoute, createFunc(store), sent)
				if got != test.want {
					t.Errorf("Invoke = %+v, want %+v", got, test.want)
				}
				if line != test.log {
					t.Errorf("log =\n%s, want\n%s", line, test.log)
				}
			})
		})
	}
}

// A request without a key gets a new one, which comes back with a 5002.
func TestNewKey(t *testing.T) {
	keys := map[string]bool{}
	for range 2 {
		var writeKey string
		got, _ := call(t, createRoute, createFunc(func(_ context.Context, w plant.Write) error {
			writeKey = w.WriteKey
			return plant.ErrUnavailable
		}), event(nil, validBody, allow(credentials)))
		key := got.idempotencyKey
		if len(key) < 26 || keys[key] || writeKey != plant.NewWriteKey("alice", key) {
			t.Errorf("Invoke = %+v after a write with the key %s, want a new random key of 26 characters", got, writeKey)
		}
		keys[key] = true
	}
}

// A panic becomes an internal error, and its stack is logged.
func TestPanic(t *testing.T) {
	plants := func(context.Context, plant.Write) error { panic(errors.New("the cause")) }
	got, line := call(t, createRoute, createFunc(plants), event(nil, validBody, allow(credentials)))
	if got != refusal(5001) || !strings.Contains(line, "the cause") || !strings.Contains(line, "createplant_test.go") {
		t.Errorf("Invoke = %+v, logged as %s, want 5001, and the cause with its stack", got, line)
	}
	tokens := func(context.Context, string) (token.Token, error) { panic("the cause") }
	gotContext, line := callAuthorizer(t, tokens, event(nil, "", nil))
	if !maps.Equal(gotContext, verdict(credentials, "unavailable")) || !strings.Contains(line, " code=5001 ") {
		t.Errorf("context = %v, logged as %s, want unavailable and the code 5001", gotContext, line)
	}
}

// The functions answer and log any event.
func TestMalformedEvents(t *testing.T) {
	tests := []struct {
		name, event string
		want        answer
		verdict     string
	}{
		{"no members", "{}", refusal(2001), "deny"},
		{"a header that is not a string", `{"headers":{"sentinel":1}}`, refusal(5001), "unavailable"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := call(t, createRoute, nil, test.event); got != test.want {
				t.Errorf("Invoke = %+v, want %+v", got, test.want)
			}
			if got, line := callAuthorizer(t, nil, test.event); !maps.Equal(got, verdict("", test.verdict)) {
				t.Errorf("context = %v, logged as %s, want %s", got, line, test.verdict)
			}
		})
	}
}

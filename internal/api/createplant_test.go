package api

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A request without a well-formed token is refused, whatever the verdict is. With one, a verdict that is not an
// explicit allow of the very Authorization value lets no request through. All other checks come later.
func TestAuthentication(t *testing.T) {
	allowWithout := func(member string) object {
		v := verdictOn(credentials, "allow")
		delete(v, member)
		return v
	}
	const malformed = "Bearer sentinel\uFFFD"
	tests := []struct {
		name          string
		authorization string
		verdict       any
		want          string
	}{
		{"no token, and no authorizer ran", "", nil, "400 2001"},
		{"no token, and an allow", "", verdictOn("", "allow"), "400 2001"},
		{"a malformed token, and no authorizer ran", malformed, nil, "400 2002"},
		{"a malformed token, and an allow", malformed, verdictOn(malformed, "allow"), "400 2002"},

		{"an invalid token", credentials, verdictOn(credentials, "deny"), "400 2003"},
		{"a token that cannot be checked", credentials, verdictOn(credentials, "unavailable"), "400 5003, retry after 1"},

		{"no authorizer ran", credentials, nil, "400 5001"},
		{"an unknown verdict", credentials, verdictOn(credentials, "maybe"), "400 5001"},
		{"an allow of no value", credentials, allowWithout("presented"), "400 5001"},
		{"an allow of another value", credentials, verdictOn("Bearer other", "allow"), "400 5001"},
		{"a deny of another value", credentials, verdictOn("Bearer other", "deny"), "400 5001"},
		{"unavailable for another value", credentials, verdictOn("Bearer other", "unavailable"), "400 5001"},
		{"an allow without a subject", credentials, allowWithout("subject"), "400 5001"},
		{"an allow without a token id", credentials, allowWithout("token_id"), "400 5001"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := map[string]string{"authorization": test.authorization, "content-type": "text/plain"}
			got, line := callCreatePlant(t, nil, event(headers, "", test.verdict))
			if got != test.want || !strings.Contains(line, ` subject="" token_id="" `) {
				t.Errorf("Invoke = %s, logged as %s, want %s, and no subject", got, line, test.want)
			}
		})
	}
}

// If several things are wrong with a request, the first check decides. An Error says what is wrong with a body, and
// repeats nothing of it. test/contract has a request for each check.
func TestChecks(t *testing.T) {
	key := func(key string) map[string]string { return map[string]string{"idempotency-key": key} }
	tests := []struct {
		name    string
		headers map[string]string
		body    string
		want    string
	}{
		{
			"another content type, and a malformed key",
			map[string]string{"content-type": "text/plain", "idempotency-key": "a b"},
			"", "400 1001",
		},
		{"a malformed key, and no body", key("a b"), "", "400 1006"},
		{"an empty key", key(""), validBody, "400 1006"},
		{"a key that is not visible", key("a\x7f"), validBody, "400 1006"},
		{"the shortest key, and no body", key("!"), "", "400 1002"},
		{"the longest key, and no body", key(strings.Repeat("~", 255)), "", "400 1002"},
		{"a longer key", key(strings.Repeat("~", 256)), validBody, "400 1006"},
		{
			"a name twice", nil, `{"sentinel":1,"sentinel":2}`,
			"400 1003: The body is not well-formed JSON: a name occurs twice in an object.",
		},
		{
			"a body that is not a NewPlant", nil, `{"id":null,"sentinel":1}`,
			"400 1004: The body is not a NewPlant: id must be an integer; name is required.",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := callCreatePlant(t, nil, event(test.headers, test.body, verdictOn(credentials, "allow"))); got != test.want {
				t.Errorf("Invoke = %s, want %s", got, test.want)
			}
		})
	}
}

// Each outcome of a write has its answer and its log line. The text of an error is in the log alone. A store that
// hangs has 2.7 s.
func TestOutcomes(t *testing.T) {
	const (
		logged = ` msg="create plant" request_id=r1 code=`
		alice  = ` subject=alice token_id=AliceTokenId duration_ms=`
		retry  = "400 5002, retry after 1 with first"
	)
	tests := []struct {
		name    string
		took    time.Duration // by the store
		outcome error         // of the write
		want    string
		log     string
	}{
		{name: "the plant is created", want: `200 {"name":"sentinel"}`, log: "level=INFO" + logged + "0" + alice + "0"},
		{name: "the id exists", outcome: plant.ErrExists, want: "400 3001", log: "level=INFO" + logged + "3001" + alice + "0"},
		{name: "the key was used", outcome: plant.ErrKeyReused, want: "400 3002", log: "level=INFO" + logged + "3002" + alice + "0"},
		{
			name: "an unknown error", outcome: errors.New("unknown"), want: "400 5001",
			log: "level=ERROR" + logged + "5001" + alice + `0 error="unknown: the cause"`,
		},
		{
			name: "the store is unavailable", took: 1500 * time.Microsecond, outcome: plant.ErrUnavailable, want: retry,
			log: "level=ERROR" + logged + "5002" + alice + `1.5 error="plant: store is unavailable: the cause"`,
		},
		{
			name: "the store hangs", took: time.Hour, outcome: plant.ErrUnavailable, want: retry,
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
					if test.outcome == nil {
						return nil
					}
					return fmt.Errorf("%w: the cause", test.outcome)
				}
				sent := event(map[string]string{"idempotency-key": "first"}, validBody, verdictOn(credentials, "allow"))
				got, line := callCreatePlant(t, store, sent)
				if got != test.want {
					t.Errorf("Invoke = %s, want %s", got, test.want)
				}
				if line != test.log {
					t.Errorf("log =\n%s, want\n%s", line, test.log)
				}
			})
		})
	}
}

// A request without a key gets a fresh one, which 5002 returns.
func TestFreshKey(t *testing.T) {
	keys := map[string]bool{}
	for range 2 {
		var writeKey string
		got, _ := callCreatePlant(t, func(_ context.Context, w plant.Write) error {
			writeKey = w.WriteKey
			return plant.ErrUnavailable
		}, event(nil, validBody, verdictOn(credentials, "allow")))
		key, returned := strings.CutPrefix(got, "400 5002, retry after 1 with ")
		if !returned || len(key) < 26 || keys[key] || writeKey != plant.NewWriteKey("alice", key) {
			t.Errorf("Invoke = %s for a write with the key %s, want a new random one of 26 characters", got, writeKey)
		}
		keys[key] = true
	}
}

// A panic is an internal error, and the log has its stack.
func TestPanic(t *testing.T) {
	store := func(context.Context, plant.Write) error { panic("the cause") }
	got, line := callCreatePlant(t, store, event(nil, validBody, verdictOn(credentials, "allow")))
	if got != "400 5001" || !strings.Contains(line, "the cause") || !strings.Contains(line, "createplant_test.go") {
		t.Errorf("Invoke = %s, logged as %s, want 400 5001, and the cause with its stack", got, line)
	}
	tokens := func(context.Context, string) (token.Token, error) { panic("the cause") }
	v, line := callAuthorizer(t, tokens, event(nil, "", nil), credentials)
	if !strings.HasPrefix(v, `{"verdict":"unavailable",`) || !strings.Contains(line, " code=5001 ") {
		t.Errorf("verdict = %s, logged as %s, want unavailable and the code 5001", v, line)
	}
}

// Both functions answer and log whatever comes in. No plant is created, and no token is verified.
func TestMalformedEvents(t *testing.T) {
	tests := []struct {
		name, event string
		want        string
		verdict     string
	}{
		{"no member", "{}", "400 2001", `{"verdict":"deny","presented":"HASH"}`},
		{"a header that is no text", `{"headers":{"sentinel":1}}`, "400 5001", `{"verdict":"unavailable","presented":"HASH"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := callCreatePlant(t, nil, test.event); got != test.want {
				t.Errorf("Invoke = %s, want %s", got, test.want)
			}
			if got, line := callAuthorizer(t, nil, test.event, ""); got != test.verdict {
				t.Errorf("verdict = %s, logged as %s, want %s", got, line, test.verdict)
			}
		})
	}
}

package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Only an explicit allow of the very Authorization value creates a plant. A
// request that is refused is wrong in all else too, and gets this code all the same.
func TestCreatePlantAuthentication(t *testing.T) {
	other := `"presented":"` + token.Digest("Bearer other") + `"`
	tests := []struct {
		name       string
		authorizer string
		want       int32
	}{
		{"an allow", lambda(allow, presented, gardener), 0},
		{"an allow with more members", `{"jwt":null,` + lambda(allow, presented, gardener, `"x":1`)[1:], 0},
		{"no token", lambda(`"verdict":"deny","reason":"missing"`, presented), 2001},
		{"a malformed header", lambda(`"verdict":"deny","reason":"malformed"`, presented), 2002},
		{"an invalid token", lambda(`"verdict":"deny","reason":"invalid"`, presented), 2003},
		{"tokens that cannot be checked", lambda(`"verdict":"unavailable"`, presented), 5003},

		{"an authorizer that did not run", absent, 5001},
		{"a null authorizer", `null`, 5001},
		{"an authorizer without a context", `{}`, 5001},
		{"a null context", `{"lambda":null}`, 5001},
		{"an empty context", lambda(), 5001},
		{"an allow of no value", lambda(allow, gardener), 5001},
		{"an allow of another value", lambda(allow, other, gardener), 5001},
		{"an allow of the value, not of its hash", lambda(allow, `"presented":"`+credentials+`"`, gardener), 5001},
		{"a deny of another value", lambda(`"verdict":"deny","reason":"missing"`, other), 5001},
		{"an unavailable of another value", lambda(`"verdict":"unavailable"`, other), 5001},
		{"an allow without a subject", lambda(allow, presented, `"token_id":"t1"`), 5001},
		{"an allow without a token id", lambda(allow, presented, `"subject":"gardener"`), 5001},
		{"an allow with a reason to deny", lambda(allow, presented, gardener, `"reason":"invalid"`), 5001},
		{"a verdict in another case", lambda(`"verdict":"Allow"`, presented, gardener), 5001},
		{"a verdict that is true", lambda(`"verdict":true`, presented, gardener), 5001},
		{"an unknown verdict", lambda(`"verdict":"maybe"`, presented, gardener), 5001},
		{"a deny without a reason", lambda(`"verdict":"deny"`, presented), 5001},
		{"a deny for an unknown reason", lambda(`"verdict":"deny","reason":"mood"`, presented), 5001},
	}
	for _, test := range tests {
		sent := sending{authorizer: test.authorizer, body: oak}
		if test.want != 0 {
			sent.headers, sent.body = map[string]string{"content-type": "text/plain", "idempotency-key": "a b"}, ""
		}
		headers := `{}`
		if test.want == 5003 {
			headers = `{"retry-after":"1"}`
		}
		got := create(t, nil, sent.event())
		if got.code != test.want || show(got.headers) != headers {
			t.Errorf("%s: Invoke = %s, want %d with headers %s", test.name, got, test.want, headers)
		}
		if test.want != 5001 {
			checkLine(t, test.name, got.line, "create plant", test.want, test.want == 0)
		}
	}
}

// What test/contract shows over HTTP is not repeated here.
func TestCreatePlantRequests(t *testing.T) {
	with := func(name, value string) sending {
		return sending{headers: map[string]string{name: value}, body: oak}
	}
	const contentType, key = "content-type", "idempotency-key"
	for want, requests := range map[string][]sending{
		`{"name":"canary"}`: {
			with(contentType, ""), with(contentType, "application/json"), with(contentType, "Application/JSON ; charset=x; y"),
			with(key, "!"), with(key, strings.Repeat("~", 255)),
		},
		`{"error":1001,`: {
			with(contentType, "text/canary"), with(contentType, "; charset=canary"), with(contentType, "application/jſon"),
			with(contentType, "application/json,application/json"),
		},
		`{"error":1002,`: {{body: ""}},
		`{"error":1003,`: {{body: canary}, {body: `{"canary":1,"canary":2}`}},
		`{"error":1004,"message":"The body is not a NewPlant: id must be an integer."}`: {{body: `{"id":"canary"}`}},
		`{"error":1005,`: {{body: `{"id":1,"name":"canary` + strings.Repeat("n", plant.MaxSize) + `"}`}},
		`{"error":1006,`: {
			with(key, ""), with(key, "canary canary"), with(key, "canary\t"), with(key, "canary\x7f"), with(key, "cänary"),
			with(key, strings.Repeat("~", 256)),
		},
	} {
		for _, sent := range requests {
			if got := create(t, nil, sent.event()); !strings.HasPrefix(got.body, want) {
				t.Errorf("%v %.200q: Invoke = %s, want %s", sent.headers, sent.body, got, want)
			}
		}
	}
}

// The key in an answer is the one that the write had, so a retry with it is the
// same write. What the client must not see is in the log.
func TestCreatePlantOutcomes(t *testing.T) {
	because := func(err error) func() error { return fails(fmt.Errorf("%w: the cause", err)) }
	tests := []struct {
		name  string
		store func() error
		want  int32
		retry bool // the answer carries Retry-After and the key
	}{
		{"success", nil, 0, false},
		{"an id that exists", because(plant.ErrExists), 3001, false},
		{"a key used twice", because(plant.ErrKeyReused), 3002, false},
		{"an unavailable store", because(plant.ErrUnavailable), 5002, true},
		{"an unknown outcome", because(plant.ErrOutcomeUnknown), 5004, true},
		{"an unknown error", fails(errors.New("the cause")), 5001, false},
		{"a panic", func() error { panic("the cause") }, 5001, false},
	}
	for _, test := range tests {
		for key, headers := range map[string]map[string]string{
			"own-" + canary:   {"idempotency-key": "own-" + canary},
			"fresh-" + canary: nil,
		} {
			got := create(t, test.store, sending{headers: headers, body: oak}.event())
			wantHeaders := map[string]string{}
			if test.retry {
				wantHeaders = map[string]string{"idempotency-key": key, "retry-after": "1"}
			}
			wantWrites := []plant.Write{{
				Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: canary}},
				Key:   plant.NewWriteKey("gardener", key), By: "gardener", At: later.UTC(),
			}}
			wrote, want := show(got.writes), show(wantWrites)
			if got.code != test.want || show(got.headers) != show(wantHeaders) || wrote != want {
				t.Errorf("%s: Invoke = %s, and wrote %s, want %d with headers %v, and %s",
					test.name, got, wrote, test.want, wantHeaders, want)
			}
			checkLine(t, test.name, got.line, "create plant", test.want, true)
			inLog := strings.Contains(fmt.Sprint(got.line["error"]), "the cause")
			if strings.Contains(got.body, "the cause") || inLog != (test.want >= 5000) {
				t.Errorf("%s: Invoke = %s, want the cause of a 5xxx in the log alone", test.name, got)
			}
		}
	}
}

// The store's deadline is the end of the budget, or sooner if the invocation ends
// sooner.
func TestCreatePlantDeadline(t *testing.T) {
	for _, test := range []struct{ left, want time.Duration }{
		{time.Hour, createBudget},
		{createBudget + margin, createBudget},
		{time.Second, time.Second - margin},
	} {
		start := time.Now()
		ctx, cancel := context.WithDeadline(t.Context(), start.Add(test.left))
		store := new(faultyStore)
		h := &CreatePlant{Plants: store, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewKey: rand.Text}
		_, err := h.Invoke(ctx, sending{body: oak}.event())
		cancel()
		late := store.deadline.Sub(start.Add(test.want))
		if err != nil || late < -time.Millisecond || late > time.Since(start) {
			t.Errorf("with %v left: Create's deadline is %v late, %v, want it %v after the start", test.left, late, err, test.want)
		}
	}
}

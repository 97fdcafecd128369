package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Only an explicit allow of the very Authorization value creates a plant. A
// request that is refused is wrong in all else too, and gets this code all the same.
func TestCreatePlantAuthentication(t *testing.T) {
	other := `"presented":"` + token.Digest("Bearer other") + `"`
	for want, authorizers := range map[int32][]string{
		0:    {allowed, `{"jwt":null,` + lambda(allow, presented, gardener, `"x":1`)[1:]},
		2001: {lambda(`"verdict":"deny","reason":"missing"`, presented)},
		2002: {lambda(`"verdict":"deny","reason":"malformed"`, presented)},
		2003: {lambda(`"verdict":"deny","reason":"invalid"`, presented)},
		5003: {lambda(`"verdict":"unavailable"`, presented)},
		5001: {
			"", `null`, `{}`, `{"lambda":null}`, lambda(), // no authorizer ran

			// The verdict is on no value, another value, or the value instead of its hash.
			lambda(allow, gardener), lambda(allow, other, gardener),
			lambda(allow, `"presented":"`+credentials+`"`, gardener),
			lambda(`"verdict":"deny","reason":"missing"`, other), lambda(`"verdict":"unavailable"`, other),

			// A part is missing, unknown or one too many.
			lambda(allow, presented, `"token_id":"t1"`), lambda(allow, presented, `"subject":"gardener"`),
			lambda(allow, presented, gardener, `"reason":"invalid"`),
			lambda(`"verdict":"Allow"`, presented, gardener), lambda(`"verdict":"maybe"`, presented, gardener),
			lambda(`"verdict":true`, presented, gardener),
			lambda(`"verdict":"deny"`, presented), lambda(`"verdict":"deny","reason":"mood"`, presented),
		},
	} {
		for _, authorizer := range authorizers {
			request := event(nil, oak, authorizer)
			if want != 0 {
				request = event(map[string]string{"content-type": "text/plain", "idempotency-key": "a b"}, "", authorizer)
			}
			got := create(t, nil, request)
			retry := show(got.headers) == `{"retry-after":"1"}`
			if got.code != want || retry != (want == 5003) || !retry && len(got.headers) > 0 {
				t.Errorf("Invoke after %s = %s, want %d, with Retry-After alone if 5003", authorizer, got, want)
			}
			if want != 5001 {
				checkLine(t, got.line, "create plant", want, want == 0)
			}
		}
	}
}

// What test/contract shows over HTTP is not repeated here.
func TestCreatePlantRequests(t *testing.T) {
	with := func(name, value string) []byte { return event(map[string]string{name: value}, oak, allowed) }
	of := func(body string) []byte { return event(nil, body, allowed) }
	const contentType, key = "content-type", "idempotency-key"
	for want, requests := range map[string][][]byte{
		`{"name":"canary"}`: {
			with(contentType, ""), with(contentType, "application/json"), with(contentType, "Application/JSON ; charset=x; y"),
			with(key, "!"), with(key, strings.Repeat("~", 255)),
		},
		`{"error":1001,`: {
			with(contentType, "text/canary"), with(contentType, "; charset=canary"), with(contentType, "application/jſon"),
			with(contentType, "application/json,application/json"),
		},
		`{"error":1002,`: {of("")},
		`{"error":1003,`: {of(canary), of(`{"canary":1,"canary":2}`)},
		`{"error":1004,"message":"The body is not a NewPlant: id must be an integer; name is required."}`: {of(`{"id":"canary"}`)},
		`{"error":1005,`: {of(`{"id":1,"name":"canary` + strings.Repeat("n", plant.MaxSize) + `"}`)},
		`{"error":1006,`: {
			with(key, ""), with(key, "canary canary"), with(key, "canary\t"), with(key, "canary\x7f"), with(key, "cänary"),
			with(key, strings.Repeat("~", 256)),
		},
	} {
		for _, request := range requests {
			if got := create(t, nil, request); !strings.HasPrefix(got.body, want) {
				t.Errorf("Invoke(%.300s) = %s, want %s", request, got, want)
			}
		}
	}
}

// The key in an answer is the one that the write had, so a retry with it is the
// same write. What the client must not see is in the log.
func TestCreatePlantOutcomes(t *testing.T) {
	because := func(err error) func() error { return fails(fmt.Errorf("%w: the cause", err)) }
	for want, stores := range map[int32][]func() error{
		0:    {nil},
		3001: {because(plant.ErrExists)},
		3002: {because(plant.ErrKeyReused)},
		5001: {because(errors.New("unknown")), func() error { panic("the cause") }},
		5002: {because(plant.ErrUnavailable)},
		5004: {because(plant.ErrOutcomeUnknown)},
	} {
		for i, store := range append(stores, stores...) {
			key, sent := "fresh-"+canary, map[string]string{}
			if i < len(stores) {
				key = "own-" + canary
				sent["idempotency-key"] = key
			}
			headers := `{}`
			if want == 5002 || want == 5004 {
				headers = `{"idempotency-key":"` + key + `","retry-after":"1"}`
			}
			write := show([]plant.Write{{
				Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: canary}},
				Key:   plant.NewWriteKey("gardener", key), By: "gardener", At: later.UTC(),
			}})
			got := create(t, store, event(sent, oak, allowed))
			if wrote := show(got.writes); got.code != want || show(got.headers) != headers || wrote != write {
				t.Errorf("Invoke = %s, and wrote %s, want %d with headers %s, and %s", got, wrote, want, headers, write)
			}
			checkLine(t, got.line, "create plant", want, true)
			inLog := strings.Contains(fmt.Sprint(got.line["error"]), "the cause")
			if strings.Contains(got.body, "the cause") || inLog != (want >= 5000) {
				t.Errorf("Invoke = %s, want the cause of a 5xxx in the log alone", got)
			}
		}
	}
}

// The store's deadline is the end of the budget, or sooner if the invocation ends
// sooner.
func TestCreatePlantDeadline(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{
		time.Hour:             createBudget,
		createBudget + margin: createBudget,
		time.Second:           time.Second - margin,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			store := new(recorder)
			h := &CreatePlant{Plants: store, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewKey: rand.Text}
			_, err := h.Invoke(ctx, event(nil, oak, allowed))
			if got := time.Until(store.deadline); err != nil || got != want {
				t.Errorf("with %v left: Invoke = %v, and the store has %v, want %v", left, err, got, want)
			}
		})
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

// openapi.yaml and README.md list the errors of the catalogue and no others.
func TestCatalogue(t *testing.T) {
	for path, pattern := range map[string]string{
		"../../openapi.yaml": `(?m)^ +- \{const: (\d{4}), description: '(.*)'\}$`,
		"../../README.md":    `(?m)^\| (\d{4}) \| (.*) \|$`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, row := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			got = append(got, row[1]+" "+row[2])
		}
		for _, o := range catalogue {
			want = append(want, fmt.Sprint(o.Code, " ", o.Message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the errors\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

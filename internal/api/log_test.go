package api

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// canary is in every token, header value and body below and must not be in the
// log. It has the characters of a token.
const canary = "canary"

func TestLogOfCreatePlant(t *testing.T) {
	headers := func(name, value string) map[string]string {
		return map[string]string{"authorization": "Bearer " + canary, "x-" + canary: canary, name: value}
	}
	plain := headers("idempotency-key", canary)
	verdict := func(members string) string {
		return `{"lambda":{"presented":"` + sha256Hex("Bearer "+canary) + `","subject":"gardener","token_id":"t1",` + members + `}}`
	}
	allow := verdict(`"verdict":"allow"`)
	const body = `{"id":1,"name":"canary","tag":"canary","canary":"canary"}`
	tests := []struct {
		name  string
		sent  sending
		store func() error
		want  int32
	}{
		{"success", sending{plain, body, false, allow}, nil, 0},
		{"another content type", sending{headers("content-type", "text/"+canary), body, false, allow}, nil, 1001},
		{"a malformed key", sending{headers("idempotency-key", canary+" "+canary), body, false, allow}, nil, 1006},
		{"no body", sending{plain, "", false, allow}, nil, 1002},
		{"a body that is not JSON", sending{plain, canary, false, allow}, nil, 1003},
		{"a duplicate name", sending{plain, `{"canary":1,"canary":2}`, false, allow}, nil, 1003},
		{"a body that is no object", sending{plain, `"canary"`, false, allow}, nil, 1004},
		{"an id that is a string", sending{plain, `{"id":"canary","name":"canary"}`, false, allow}, nil, 1004},
		{"a plant too large", sending{plain, `{"id":1,"name":"` + strings.Repeat(canary, plant.MaxSize) + `"}`, false, allow}, nil, 1005},
		{"a body that is not base64", sending{plain, canary + "%", true, allow}, nil, 5001},
		{"no token", sending{plain, body, false, verdict(`"verdict":"deny","reason":"missing"`)}, nil, 2001},
		{"a malformed header", sending{plain, body, false, verdict(`"verdict":"deny","reason":"malformed"`)}, nil, 2002},
		{"an invalid token", sending{plain, body, false, verdict(`"verdict":"deny","reason":"invalid"`)}, nil, 2003},
		{"tokens that cannot be checked", sending{plain, body, false, verdict(`"verdict":"unavailable"`)}, nil, 5003},
		{"an unknown verdict", sending{plain, body, false, verdict(`"verdict":"maybe"`)}, nil, 5001},
		{"a verdict on another value", sending{headers("Authorization", canary), body, false, allow}, nil, 5001},
		{"an id that exists", sending{plain, body, false, allow}, fails(plant.ErrExists), 3001},
		{"a key used twice", sending{plain, body, false, allow}, fails(plant.ErrKeyReused), 3002},
		{"an unavailable store", sending{plain, body, false, allow}, fails(plant.ErrUnavailable), 5002},
		{"an unknown outcome", sending{plain, body, false, allow}, fails(plant.ErrOutcomeUnknown), 5004},
		{"an unknown error", sending{plain, body, false, allow}, fails(errors.New("broken")), 5001},
		{"a panic", sending{plain, body, false, allow}, func() error { panic("broken") }, 5001},
	}
	for _, test := range tests {
		clock := now
		h := newCreatePlant(&faultyStore{before: test.store})
		h.Now = func() time.Time { clock = clock.Add(1500 * time.Microsecond); return clock }
		line := logged(t, test.name, func(log *slog.Logger) {
			h.Log = log
			invoke(t, h, test.sent.event(t))
		})
		checkLine(t, test.name, line, test.want, "gardener", "t1")
	}
}

func TestLogOfAuthorizer(t *testing.T) {
	store := new(memory.TokenStore)
	secret, issued := issue(t, store, now)
	unknown, _ := issue(t, new(memory.TokenStore), now)
	tests := []struct {
		name    string
		value   string
		store   token.Finder
		want    int32
		subject string
		tokenID string
	}{
		{"a valid token", "Bearer " + secret, store, 0, "gardener", issued.ID},
		{"no bearer token", "Basic " + canary, store, 2001, "", ""},
		{"a malformed header", "Bearer canary, canary", store, 2002, "", ""},
		{"a token that is none of ours", "Bearer canary", store, 2003, "", ""},
		{"an unknown token", "Bearer " + unknown, store, 2003, "", ""},
		{"an unavailable store", "Bearer " + secret, finder(fails(token.ErrUnavailable)), 5003, "", ""},
		{"a broken store", "Bearer " + secret, finder(fails(errors.New("broken"))), 5001, "", ""},
		{"a store that panics", "Bearer " + secret, finder(func() error { panic("broken") }), 5001, "", ""},
	}
	for _, test := range tests {
		clock := now
		a := newAuthorizer(test.store)
		a.Now = func() time.Time { clock = clock.Add(1500 * time.Microsecond); return clock }
		line := logged(t, test.name, func(log *slog.Logger) {
			a.Log = log
			authorize(t, a, authorizerEvent(t, map[string]string{"authorization": test.value, "cookie": canary}))
		}, secret, unknown, issued.Digest)
		checkLine(t, test.name, line, test.want, test.subject, test.tokenID)
	}
}

// An event that cannot be read is logged in one line too, without its text.
func TestLogOfEventsThatAreNone(t *testing.T) {
	for _, event := range []string{
		canary, `"canary"`, `{"body":"canary`, `{"body":"canary\x"}`, `{"requestContext":"canary"}`, `{"isBase64Encoded":"canary"}`,
		`{"headers":{"authorization":"Bearer canary"`, `{"headers":{"canary":"x`, `{"headers":{"canary":1,"canary":}}`, `{"requestContext":"canary"}`, `{"requestContext":{"authorizer":{"lambda":"canary"}}}`,
	} {
		h, a := newCreatePlant(new(faultyStore)), newAuthorizer(new(memory.TokenStore))
		line := logged(t, event, func(log *slog.Logger) { h.Log = log; invoke(t, h, []byte(event)) })
		if line["code"] != 5001.0 {
			t.Errorf("log of CreatePlant(%q) = %v, want code 5001", event, line)
		}
		line = logged(t, event, func(log *slog.Logger) { a.Log = log; authorize(t, a, []byte(event)) })
		if line["code"] != 5001.0 {
			t.Errorf("log of Authorizer(%q) = %v, want code 5001", event, line)
		}
	}
}

// logged returns the one line that request logs, which must hold neither the
// canary nor a secret.
func logged(t *testing.T, name string, request func(*slog.Logger), secrets ...string) map[string]any {
	t.Helper()
	var log bytes.Buffer
	request(slog.New(slog.NewJSONHandler(&log, nil)))
	if lines := strings.Count(log.String(), "\n"); lines != 1 {
		t.Fatalf("%s: log has %d lines, want 1:\n%s", name, lines, log.String())
	}
	for _, secret := range append(secrets, canary) {
		if strings.Contains(strings.ToLower(log.String()), strings.ToLower(secret)) {
			t.Errorf("%s: log = %s, want no token, header value or body in it", name, log.String())
		}
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%s: log = %s: %v", name, log.String(), err)
	}
	return line
}

// checkLine holds line to exactly the attributes that are promised.
func checkLine(t *testing.T, name string, line map[string]any, code int32, subject, tokenID string) {
	t.Helper()
	want := []string{"code", "duration_ms", "level", "msg", "request_id", "subject", "time", "token_id"}
	level := "INFO"
	if code >= 5000 {
		want = append(want, "error")
		slices.Sort(want)
		level = "ERROR"
	}
	if got := slices.Sorted(maps.Keys(line)); !slices.Equal(got, want) {
		t.Errorf("%s: log has the attributes %v, want %v", name, got, want)
	}
	duration, _ := line["duration_ms"].(float64)
	if line["request_id"] != "r1" || line["code"] != float64(code) || line["subject"] != subject || line["token_id"] != tokenID ||
		line["level"] != level || duration < 1.5 {
		t.Errorf("%s: log = %v, want request r1, code %d, subject %q, token %q, level %s, 1.5 ms or more", name, line, code, subject, tokenID, level)
	}
}

func TestCatalogue(t *testing.T) {
	var codes []int32
	for _, o := range catalogue {
		codes = append(codes, o.Code)
		if !strings.HasSuffix(o.Message, ".") || strings.Contains(o.Message, "\n") {
			t.Errorf("message of %d = %q, want a line of whole sentences", o.Code, o.Message)
		}
	}
	want := []int32{1001, 1002, 1003, 1004, 1005, 1006, 2001, 2002, 2003, 3001, 3002, 5001, 5002, 5003, 5004}
	if !slices.Equal(codes, want) {
		t.Errorf("codes = %v, want %v", codes, want)
	}
}

package api

import (
	"context"
	"encoding/json/v2"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

const (
	// sentinel is in the token, the headers and the bodies that the tests send. It must not appear in any log or Error.
	sentinel    = "sentinel"
	bearer      = "pst_ALICETOKENIDSENTINELSENTINELSENTINEL22a4179fb8" // its secret has three sentinels
	credentials = "Bearer " + bearer
	validBody   = `{"id":1,"name":"sentinel"}`
)

// verdict returns the authorizer's context with a verdict on an Authorization header.
func verdict(authorization, verdict string) map[string]string {
	return map[string]string{"verdict": verdict, "header_digest": token.Digest(authorization)}
}

// allow returns the authorizer's context for a request by alice that it allows.
func allow(authorization string) map[string]string {
	c := verdict(authorization, "allow")
	c["subject"] = "alice"
	c["token_id"] = "ALICETOKENID"
	return c
}

// event returns the event for a POST /plants with credentials and the given headers, if the authorizer returns
// context.
func event(headers map[string]string, body string, context map[string]string) string {
	sent := map[string]string{"authorization": credentials, "x-sentinel": sentinel}
	maps.Copy(sent, headers)
	type object map[string]any
	content, err := json.Marshal(object{
		"headers": sent,
		"body":    body,
		"requestContext": object{
			"requestId":  "r1",
			"http":       object{"sourceIp": sentinel},
			"authorizer": object{"lambda": context},
		},
	})
	if err != nil {
		panic(err)
	}
	return string(content)
}

// createFunc is a plant.Store. Without one, a test panics if a plant is created.
type createFunc func(context.Context, plant.Write) error

func (c createFunc) Create(ctx context.Context, w plant.Write) error { return c(ctx, w) }

// findFunc is a token.Store. With a nil one, a test panics if a token is looked up.
type findFunc func(ctx context.Context, id string) (token.Token, error)

func (f findFunc) Find(ctx context.Context, id string) (token.Token, error) { return f(ctx, id) }

// invoke returns the answer to an event, and the logged line without its time. It checks what holds for every
// event: there is an answer, and at most one line, with no token, header or body.
func invoke(t *testing.T, newHandler func(*slog.Logger) Handler, event string) (answer []byte, line string) {
	t.Helper()
	var log strings.Builder
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	answer, err := newHandler(logger).Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Errorf("Invoke = %v, want an answer", err)
	}
	line, rest, _ := strings.Cut(log.String(), "\n")
	if rest != "" || strings.Contains(strings.ToLower(line), sentinel) {
		t.Errorf("log = %s, want one line, with no token, header or body in it", &log)
	}
	return answer, line
}

// answer is what a client gets.
type answer struct {
	status         int
	body           string // of a 200
	code           int32  // of an Error
	reason         string // what the Error's message adds to the catalog's
	retryAfter     string // headers
	idempotencyKey string
}

// refusal returns the answer with an Error and no other header.
func refusal(code int32) answer { return answer{status: http.StatusBadRequest, code: code} }

const createRoute = "POST /plants"

// call returns a route's answer to an event, and the logged line. It checks that no Error repeats the request.
func call(t *testing.T, route string, plants plant.Store, event string) (got answer, line string) {
	t.Helper()
	content, line := invoke(t, func(log *slog.Logger) Handler { return Routes(plants, log)[route] }, event)
	var r response
	if err := json.Unmarshal(content, &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %s, want a response: %v", content, err)
	}
	got = answer{status: r.StatusCode, retryAfter: r.Headers["retry-after"], idempotencyKey: r.Headers["idempotency-key"]}
	delete(r.Headers, "retry-after")
	delete(r.Headers, "idempotency-key")
	if !maps.Equal(r.Headers, map[string]string{"content-type": "application/json"}) {
		t.Errorf("Invoke = %s, want the content type and no other header", content)
	}
	if got.status == http.StatusOK {
		got.body = r.Body
		return got, line
	}
	var e Error
	if err := json.Unmarshal([]byte(r.Body), &e, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %s, want an Error: %v", content, err)
	}
	if strings.Contains(strings.ToLower(e.Message), sentinel) {
		t.Errorf("Invoke = %s, want an Error that repeats no part of the request", content)
	}
	i := slices.IndexFunc(catalog, func(c entry) bool { return c.code == e.Code })
	if i < 0 {
		t.Fatalf("Invoke = %s, want a code in the catalog", content)
	}
	got.code = e.Code
	got.reason = strings.TrimPrefix(e.Message, strings.TrimSuffix(catalog[i].message, "."))
	got.reason = strings.Trim(got.reason, ": .")
	return got, line
}

// callAuthorizer returns the authorizer's context for an event, and the logged line. It checks that the request
// may pass.
func callAuthorizer(t *testing.T, find findFunc, event string) (context map[string]string, line string) {
	t.Helper()
	content, line := invoke(t, func(log *slog.Logger) Handler { return &Authorizer{Tokens: find, Log: log} }, event)
	var got struct {
		IsAuthorized bool              `json:"isAuthorized"`
		Context      map[string]string `json:"context"`
	}
	if err := json.Unmarshal(content, &got, json.RejectUnknownMembers(true)); err != nil || !got.IsAuthorized {
		t.Fatalf("Invoke = %s, want a context and isAuthorized", content)
	}
	return got.Context, line
}

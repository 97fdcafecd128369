package api

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

const (
	// sentinel is in the token, the headers and the bodies that the tests send. It must not be in a log
	// or in an Error.
	sentinel    = "sentinel"
	bearer      = "pst_AliceTokenIdsentinelsentinelsentinel0xw5u8" // its secret is three sentinels
	credentials = "Bearer " + bearer
	validBody   = `{"id":1,"name":"sentinel"}`
)

// object is a JSON object.
type object map[string]any

// verdictOn returns the authorizer's verdict on an Authorization value.
func verdictOn(authorization, verdict string) object {
	return object{"verdict": verdict, "presented": token.Digest(authorization), "subject": "alice", "token_id": "AliceTokenId"}
}

// event returns the event of a POST /plants with credentials, these headers besides, and a verdict.
func event(headers map[string]string, body string, verdict any) string {
	sent := map[string]string{"authorization": credentials, "x-sentinel": sentinel}
	maps.Copy(sent, headers)
	content, err := json.Marshal(object{
		"headers": sent,
		"body":    body,
		"requestContext": object{
			"requestId":  "r1",
			"http":       object{"sourceIp": sentinel},
			"authorizer": object{"lambda": verdict},
		},
	})
	if err != nil {
		panic(err)
	}
	return string(content)
}

// create is a plant.Store. If it is nil, nothing may be created.
type create func(context.Context, plant.Write) error

func (c create) Create(ctx context.Context, w plant.Write) error { return c(ctx, w) }

// find is a token.Store. If it is nil, no token may be looked up.
type find func(ctx context.Context, id string) (token.Token, error)

func (f find) Find(ctx context.Context, id string) (token.Token, error) { return f(ctx, id) }

// invoke gives a function an event. It returns the answer, and the line that is logged, without its time. It checks
// what is promised of every event: an answer, and at most one line, without a token, a header or a body.
func invoke(t *testing.T, newHandler func(*slog.Logger) lambda.Handler, event string) (answer []byte, line string) {
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

// callCreatePlant returns the answer of the service to an event, such as `200 {"name":"x"}` or "400 5002, retry after
// 1 with KEY", and the line that is logged.
func callCreatePlant(t *testing.T, create create, event string) (answer, line string) {
	t.Helper()
	content, line := invoke(t, func(log *slog.Logger) lambda.Handler { return &CreatePlant{Plants: create, Log: log} }, event)
	var got response
	if err := json.Unmarshal(content, &got, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %s, want a response: %v", content, err)
	}
	var refusal Error
	if json.Unmarshal([]byte(got.Body), &refusal, json.RejectUnknownMembers(true)) != nil {
		answer = fmt.Sprint(got.StatusCode, " ", got.Body)
	} else {
		answer = fmt.Sprint(got.StatusCode, " ", refusal.Code, detail(t, refusal))
	}
	for _, header := range []struct{ name, text string }{{"retry-after", ", retry after "}, {"idempotency-key", " with "}} {
		if value, sent := got.Headers[header.name]; sent {
			answer += header.text + value
			delete(got.Headers, header.name)
		}
	}
	if !maps.Equal(got.Headers, map[string]string{"content-type": "application/json"}) {
		t.Errorf("Invoke = %s, want the content type and no other header", content)
	}
	return answer, line
}

// detail returns what the message of an Error says beyond that of the catalogue, as that of 1004 does. It checks that
// the message repeats nothing of the request.
func detail(t *testing.T, refusal Error) string {
	t.Helper()
	if strings.Contains(refusal.Message, sentinel) {
		t.Errorf("Invoke = %+v, want an Error that repeats nothing of the request", refusal)
	}
	for _, e := range catalogue {
		if e.code == refusal.Code && e.message == refusal.Message {
			return ""
		}
	}
	return ": " + refusal.Message
}

// callAuthorizer returns the verdict of the authorizer on an event, as a function gets it, with HASH in place of the
// digest of the Authorization value, and the line that is logged. It checks that the authorizer lets the request
// pass: the function refuses it.
func callAuthorizer(t *testing.T, find find, event, authorization string) (verdict, line string) {
	t.Helper()
	content, line := invoke(t, func(log *slog.Logger) lambda.Handler { return &Authorizer{Tokens: find, Log: log} }, event)
	verdict, isAuthorized := strings.CutPrefix(string(content), `{"isAuthorized":true,"context":`)
	if !isAuthorized {
		t.Fatalf("Invoke = %s, want isAuthorized", content)
	}
	return strings.ReplaceAll(strings.TrimSuffix(verdict, "}"), token.Digest(authorization), "HASH"), line
}

package api

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

const (
	// canary is in the token, the headers and the bodies that the tests send. It must not be in a log
	// or in an Error.
	canary      = "canary"
	credentials = "Bearer " + canary
	validBody   = `{"id":1,"name":"canary"}`
)

// object is a JSON object.
type object map[string]any

// allowed is the authorizer's verdict on credentials.
func allowed() object {
	return object{"verdict": "allow", "presented": token.Digest(credentials), "subject": "alice", "token_id": "t1"}
}

// event returns the event of a POST /plants with credentials, these headers besides, and a verdict.
func event(headers map[string]string, body string, verdict any) []byte {
	sent := map[string]string{"authorization": credentials, "x-canary": canary}
	maps.Copy(sent, headers)
	content, err := json.Marshal(object{
		"routeKey": "POST /plants",
		"headers":  sent,
		"body":     body,
		"requestContext": object{
			"requestId":  "r1",
			"http":       object{"sourceIp": canary},
			"authorizer": object{"lambda": verdict},
		},
	})
	if err != nil {
		panic(err)
	}
	return content
}

// store is a plant.Store whose Create is a function of the test. Without one, nothing may be created.
type store struct {
	create func(context.Context, plant.Write) error
}

func (s store) Create(ctx context.Context, w plant.Write) error { return s.create(ctx, w) }

// verify is a token.Verifier. Without one, no token may be verified.
type verify func(ctx context.Context, bearer string) (token.Principal, error)

func (v verify) Verify(ctx context.Context, bearer string) (token.Principal, error) {
	return v(ctx, bearer)
}

// invoke returns what a function answers to an event, and the line that it logs, nil if it logs none. It checks
// what is promised of every event: an answer, and at most one line, without a token, a header or a body.
func invoke(t *testing.T, newHandler func(*slog.Logger) lambda.Handler, event []byte) (answer []byte, line object) {
	t.Helper()
	var log bytes.Buffer
	answer, err := newHandler(slog.New(slog.NewJSONHandler(&log, nil))).Invoke(t.Context(), event)
	if err != nil {
		t.Errorf("Invoke = %v, want an answer", err)
	}
	if strings.Contains(strings.ToLower(log.String()), canary) {
		t.Errorf("log = %s, want no token, header or body in it", &log)
	}
	if log.Len() == 0 {
		return answer, nil
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("log = %s, want one line of JSON: %v", &log, err)
	}
	delete(line, slog.TimeKey)
	return answer, line
}

// answer is what a client gets, and what is logged.
type answer struct {
	refusal Error  // zero for a success
	key     string // to retry with
	line    object
}

// checkedAnswer returns the answer of the service to an event. It checks what is promised of every answer: its
// status, body and headers, and the code in the log.
func checkedAnswer(t *testing.T, plants store, event []byte) answer {
	t.Helper()
	if plants.create == nil {
		plants.create = func(context.Context, plant.Write) error {
			t.Error("the service creates a plant, want none")
			return nil
		}
	}
	newService := func(log *slog.Logger) lambda.Handler {
		return &Service{Plants: plants, Log: log, NewKey: func() string { return "fresh" }}
	}
	content, line := invoke(t, newService, event)
	var sent response
	if err := json.Unmarshal(content, &sent, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %s, want a response: %v", content, err)
	}
	got := answer{refusal: checkedBody(t, sent), key: sent.Headers["idempotency-key"], line: line}
	checkHeaders(t, sent.Headers, got)
	if line["code"] != float64(got.refusal.Code) {
		t.Errorf("log = %v, want the code %d", line, got.refusal.Code)
	}
	return got
}

// checkedBody returns the Error in a response, zero for a success. It checks the status and the body.
func checkedBody(t *testing.T, sent response) (refusal Error) {
	t.Helper()
	if sent.StatusCode == http.StatusOK {
		if sent.Body != `{"name":"canary"}` {
			t.Errorf("Invoke = %+v, want the Plant of validBody", sent)
		}
		return Error{}
	}
	if err := json.Unmarshal([]byte(sent.Body), &refusal, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %+v, want an Error: %v", sent, err)
	}
	if sent.StatusCode != http.StatusBadRequest {
		t.Errorf("Invoke = %+v, want status 200 or 400", sent)
	}
	if strings.Contains(sent.Body, canary) {
		t.Errorf("Invoke = %+v, want an Error that repeats nothing of the request", sent)
	}
	return refusal
}

// checkHeaders checks that an answer has the headers that its code and its key demand, and no others.
func checkHeaders(t *testing.T, headers map[string]string, a answer) {
	t.Helper()
	want := map[string]string{"content-type": "application/json"}
	if a.refusal.Code > internalError.code {
		want["retry-after"] = "1"
	}
	if a.key != "" {
		want["idempotency-key"] = a.key
	}
	if !maps.Equal(headers, want) {
		t.Errorf("the error %d has the headers %v, want %v", a.refusal.Code, headers, want)
	}
}

// checkedVerdict returns the verdict of the authorizer on an event, and the line that it logs. It checks that
// the authorizer lets the request pass: the function refuses it.
func checkedVerdict(t *testing.T, verify verify, event []byte) (verdict, object) {
	t.Helper()
	if verify == nil {
		verify = func(context.Context, string) (token.Principal, error) {
			t.Error("the authorizer verifies a token, want none")
			return token.Principal{}, nil
		}
	}
	newAuthorizer := func(log *slog.Logger) lambda.Handler {
		return &Authorizer{Verifier: verify, Log: log}
	}
	content, line := invoke(t, newAuthorizer, event)
	var got authorizerResponse
	if err := json.Unmarshal(content, &got, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("Invoke = %s, want an authorization: %v", content, err)
	}
	if !got.IsAuthorized {
		t.Errorf("Invoke = %s, want isAuthorized", content)
	}
	return got.Context, line
}

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/tokens"
)

const authorization = "Bearer pst_AAAAAAAAAAAAAAAAAAAAAAAAAA"

type object = map[string]any

// captureLog returns what is logged during the test.
func captureLog(t *testing.T) *bytes.Buffer {
	var log bytes.Buffer
	previous := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(previous) })
	return &log
}

// echo answers with the request's body.
func echo(_ context.Context, r Request) (Answer, error) {
	return Answer{Body: object{"body": string(r.Body), "type": r.ContentType, "subject": r.Subject}, Outcome: "echoed"}, nil
}

// invoke returns the status and the headers of an answer, and the members of its body.
func invoke(t *testing.T, do Operation, event any) (response events.APIGatewayV2HTTPResponse, body object) {
	t.Helper()
	payload, ok := event.(string)
	if !ok {
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		payload = string(text)
	}
	out, err := do.Invoke(t.Context(), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.Unmarshal(out, &response), json.Unmarshal([]byte(response.Body), &body)); err != nil {
		t.Fatal(err)
	}
	return response, body
}

// event returns a request with this verdict.
func event(verdict object) object {
	return object{
		"headers":        object{"authorization": authorization, "content-type": "text/secret"},
		"body":           "secret body",
		"requestContext": object{"requestId": "r1", "authorizer": object{"lambda": verdict}},
	}
}

// Nobody gets in without a verdict on exactly his own Authorization header. That there is none is an operator's problem.
func TestClosedDoor(t *testing.T) {
	digest := tokens.Digest(authorization)
	good := object{"error": 0, "subject": "alice", "header": digest}
	withoutHeader := event(good)
	withoutHeader["headers"] = object{}
	otherCase := event(good)
	otherCase["headers"] = object{"Authorization": authorization}
	for name, test := range map[string]struct {
		event any
		want  int // the code, or 0 for a Plant
	}{
		"allowed":                   {event: event(good), want: 0},
		"another case, as in SAM":   {event: otherCase, want: 0},
		"refused":                   {event: event(object{"error": 401, "subject": "", "header": digest}), want: 401},
		"expired":                   {event: event(object{"error": 401, "subject": "alice", "header": digest}), want: 401},
		"not checked":               {event: event(object{"error": 503, "subject": "", "header": digest}), want: 503},
		"no authorizer":             {event: object{"headers": object{"authorization": authorization}}, want: 500},
		"no verdict":                {event: event(nil), want: 500},
		"no header in the request":  {event: withoutHeader, want: 500},
		"verdict on another header": {event: event(object{"error": 0, "subject": "alice", "header": tokens.Digest("Bearer x")}), want: 500},
		"verdict on no header":      {event: event(object{"error": 0, "subject": "alice"}), want: 500},
		"no error":                  {event: event(object{"subject": "alice", "header": digest}), want: 500},
		"error is false":            {event: event(object{"error": false, "subject": "alice", "header": digest}), want: 500},
		"another error":             {event: event(object{"error": 1, "subject": "alice", "header": digest}), want: 500},
		"no subject":                {event: event(object{"error": 0, "header": digest}), want: 500},
		"subject is a number":       {event: event(object{"error": 0, "subject": 1, "header": digest}), want: 500},
		"no event":                  {event: `null`, want: 500},
		"malformed event":           {event: `{"headers": 1}`, want: 500},
	} {
		t.Run(name, func(t *testing.T) {
			log := captureLog(t)
			response, body := invoke(t, echo, test.event)
			code, _ := body["error"].(float64)
			wantStatus, wantLevel := 400, "level=ERROR"
			if test.want < 500 {
				wantLevel = "level=INFO"
			}
			if test.want == 0 {
				wantStatus = 200
			}
			if int(code) != test.want || response.StatusCode != wantStatus {
				t.Errorf("the answer is %d %v, want the code %d", response.StatusCode, body, test.want)
			}
			if response.Headers["content-type"] != "application/json" || (response.Headers["retry-after"] == "1") != (test.want == 503) {
				t.Errorf("the headers are %v", response.Headers)
			}
			if !strings.Contains(log.String(), wantLevel) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("the log is %s, want one line with %s", log, wantLevel)
			}
		})
	}
}

// An operation gets what the client sent, and what it returns is answered and logged. Nothing secret is.
func TestOperation(t *testing.T) {
	good := object{"error": 0, "subject": "alice", "header": tokens.Digest(authorization)}
	encoded := event(good)
	encoded["body"], encoded["isBase64Encoded"] = "w6k=", true
	misencoded := event(good)
	misencoded["isBase64Encoded"] = true
	for name, test := range map[string]struct {
		do      Operation
		event   object
		want    object // members of the body
		wantLog []string
	}{
		"success": {
			do: echo, event: event(good), want: object{"body": "secret body", "type": "text/secret", "subject": "alice"},
			wantLog: []string{"level=INFO msg=echoed", "error=0", "subject=alice", "apigw_request_id=r1"},
		},
		"base64":           {do: echo, event: encoded, want: object{"body": "é"}},
		"malformed base64": {do: echo, event: misencoded, want: object{"error": 500.0}, wantLog: []string{"level=ERROR", "base64"}},
		"refusal": {
			do:      func(context.Context, Request) (Answer, error) { return Answer{}, Error{Code: 409, Message: "no"} },
			event:   event(good),
			want:    object{"error": 409.0, "message": "no"},
			wantLog: []string{"level=INFO msg=refused", "error=409", "cause=no", "subject=alice", "apigw_request_id=r1"},
		},
		"failure": {
			do:      func(context.Context, Request) (Answer, error) { return Answer{}, errors.New("broken") },
			event:   event(good),
			want:    object{"error": 500.0},
			wantLog: []string{"level=ERROR msg=failed", "error=500", "cause=broken", "subject=alice", "apigw_request_id=r1"},
		},
		"panic": {
			do:      func(context.Context, Request) (Answer, error) { panic("broken") },
			event:   event(good),
			want:    object{"error": 500.0},
			wantLog: []string{"level=ERROR", "cause=\"panic: broken", "api_test.go"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := captureLog(t)
			_, body := invoke(t, test.do, test.event)
			for member, want := range test.want {
				if body[member] != want {
					t.Errorf("the answer is %v, want %v", body, test.want)
				}
			}
			for _, want := range test.wantLog {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log is %s, want %s in it", log, want)
				}
			}
			for _, secret := range []string{"secret", "pst_", tokens.Digest(authorization)} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log has %s: %s", secret, log)
				}
			}
			if _, isError := body["error"]; isError && (body["message"] == "" || strings.Contains(fmt.Sprint(body["message"]), "broken")) {
				t.Errorf("the message is %v", body["message"])
			}
		})
	}
}

// storeFunc is a tokens.Store.
type storeFunc func(ctx context.Context, digest string) (tokens.Token, error)

func (f storeFunc) Find(ctx context.Context, digest string) (tokens.Token, error) {
	return f(ctx, digest)
}

// The authorizer lets every request pass, and says with which verdict.
func TestAuthorizer(t *testing.T) {
	digest := tokens.Digest("pst_AAAAAAAAAAAAAAAAAAAAAAAAAA")
	known := tokens.Memory{digest: {Digest: digest, Subject: "alice", ExpiresAt: time.Now().Add(time.Minute)}}
	for name, test := range map[string]struct {
		tokens        tokens.Store
		authorization string
		want, wantLog string
	}{
		"valid":   {tokens: known, authorization: authorization, want: "0 alice", wantLog: ""},
		"unknown": {tokens: tokens.Memory{}, authorization: authorization, want: "401 ", wantLog: tokens.ErrInvalid.Error()},
		"none":    {tokens: known, authorization: "", want: "401 ", wantLog: tokens.ErrInvalid.Error()},
		"a store that fails": {
			tokens:        storeFunc(func(context.Context, string) (tokens.Token, error) { return tokens.Token{}, errors.New("broken") }),
			authorization: authorization, want: "503 ", wantLog: "broken",
		},
		"a store that panics": {
			tokens:        storeFunc(func(context.Context, string) (tokens.Token, error) { panic("broken") }),
			authorization: authorization, want: "503 ", wantLog: "api_test.go",
		},
		"a store that does not answer": {
			tokens: storeFunc(func(ctx context.Context, _ string) (tokens.Token, error) {
				<-ctx.Done()
				return tokens.Token{}, ctx.Err()
			}),
			authorization: authorization, want: "503 ", wantLog: "level=ERROR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := captureLog(t)
				start := time.Now()
				event, _ := json.Marshal(object{"headers": object{"Authorization": test.authorization}, "requestContext": object{"requestId": "r1"}})
				out, err := Authorizer{Tokens: test.tokens}.Invoke(t.Context(), event)
				var answer events.APIGatewayV2CustomAuthorizerSimpleResponse
				if err := errors.Join(err, json.Unmarshal(out, &answer)); err != nil {
					t.Fatal(err)
				}
				c := answer.Context
				if got := fmt.Sprint(c["error"], " ", c["subject"]); !answer.IsAuthorized || got != test.want || c["header"] != tokens.Digest(test.authorization) {
					t.Errorf("the verdict is %v, want %s", answer, test.want)
				}
				if got := log.String(); !strings.Contains(got, test.wantLog) || (got == "") != (test.wantLog == "") || strings.Contains(got, "pst_") {
					t.Errorf("the log is %s, want %s in it", got, test.wantLog)
				}
				if took := time.Since(start); took > Timeout {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// The gateway passes on what a client sent, and answers itself what no function gets.
func TestGateway(t *testing.T) {
	captureLog(t)
	known := tokens.Memory{tokens.Digest("pst_AAAAAAAAAAAAAAAAAAAAAAAAAA"): {Subject: "alice", ExpiresAt: time.Now().Add(time.Hour)}}
	for name, test := range map[string]struct {
		method, path, body string
		want               int
	}{
		"text":          {method: "POST", path: "/plants", body: "é", want: 200},
		"bytes":         {method: "POST", path: "/plants?x=1", body: "\xff", want: 200},
		"another path":  {method: "POST", path: "/plants/1", want: 404},
		"another verb":  {method: "GET", path: "/plants", want: 404},
		"a large body":  {method: "POST", path: "/plants", body: strings.Repeat("x", maxBody), want: 200},
		"a larger body": {method: "POST", path: "/plants", body: strings.Repeat("x", maxBody+1), want: 413},
	} {
		t.Run(name, func(t *testing.T) {
			var do Operation = func(_ context.Context, r Request) (Answer, error) {
				if string(r.Body) != test.body {
					t.Errorf("the function gets %.20q, want %.20q", r.Body, test.body)
				}
				return Answer{Body: object{}}, nil
			}
			request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.body))
			request.Header.Set("Authorization", authorization)
			answer := httptest.NewRecorder()
			Gateway{Authorizer: Authorizer{Tokens: known}, CreatePlant: do}.ServeHTTP(answer, request)
			if answer.Code != test.want || answer.Header().Get("Content-Type") != "application/json" {
				t.Errorf("the answer is %d %s %v, want %d", answer.Code, answer.Body, answer.Header(), test.want)
			}
		})
	}
}

package api

import (
	"bytes"
	"context"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/dynamo"
	"plantstore/internal/tokens"
)

const (
	bearer        = "pst_AAAAAAAAAAAAAAAAAAAAAAAAAA"
	authorization = "Bearer " + bearer
)

type object = map[string]any

// known has the token of alice.
var known = tokens.Memory{tokens.Digest(bearer): {Subject: "alice", ExpiresAt: time.Now().Add(time.Hour)}}

// captureLog returns what is logged during the test.
func captureLog(t *testing.T) *bytes.Buffer {
	var log bytes.Buffer
	previous := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(previous) })
	return &log
}

// invoke gives an event to an operation or the authorizer, and returns the answer.
func invoke(t *testing.T, function lambda.Handler, event any) (answer object) {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return invokeRaw(t, function, payload)
}

func invokeRaw(t *testing.T, function lambda.Handler, payload []byte) (answer object) {
	t.Helper()
	out, err := function.Invoke(t.Context(), payload)
	if err := errors.Join(err, json.Unmarshal(out, &answer)); err != nil {
		t.Fatal(err)
	}
	return answer
}

// request returns an event with this verdict, and some members replaced.
func request(verdict, members object) object {
	event := object{
		"headers":        object{"authorization": authorization, "content-type": "text/secret"},
		"body":           "secret body",
		"requestContext": object{"requestId": "r1", "authorizer": object{"lambda": verdict}},
	}
	for name, value := range members {
		event[name] = value
	}
	return event
}

func succeed(_ context.Context, r Request) (any, error) {
	return object{"got": r.Subject + ", " + r.ContentType + ", " + string(r.Body)}, nil
}

// An operation gets what the client sent, if there is a verdict on exactly this Authorization header. If there is none, the
// operator has to know. Each request is one line in the log, with nothing secret in it.
func TestOperation(t *testing.T) {
	digest := tokens.Digest(authorization)
	good := object{"code": 0, "subject": "alice", "header_digest": digest}
	fail := func(err error) Operation {
		return func(context.Context, Request) (any, error) { return nil, err }
	}
	for name, test := range map[string]struct {
		do      Operation // nil for succeed
		event   any
		code    int    // of the Error, or 0
		body    string // part of it
		wantLog string // words in the line
	}{
		"success": {
			event: request(good, nil), body: `{"got":"alice, text/secret, secret body"}`,
			wantLog: "level=INFO error=0 subject=alice apigw_request_id=r1",
		},
		"base64": {event: request(good, object{"body": "w6k=", "isBase64Encoded": true}), body: `é"}`, wantLog: "error=0"},
		"header in another case, as in SAM": {
			event: request(good, object{"headers": object{"Authorization": authorization}}), body: "got", wantLog: "error=0",
		},
		"verdict in text":   {event: request(object{"code": "0", "subject": "alice", "header_digest": digest}, nil), body: "got", wantLog: "error=0"},
		"token refused":     {event: request(object{"code": 401, "subject": "", "header_digest": digest}, nil), code: 401, wantLog: "level=INFO"},
		"token expired":     {event: request(object{"code": 401, "subject": "alice", "header_digest": digest}, nil), code: 401, wantLog: "level=INFO"},
		"authorizer failed": {event: request(object{"code": 500, "subject": "", "header_digest": digest}, nil), code: 500, wantLog: "level=ERROR"},
		"token not checked": {event: request(object{"code": 503, "subject": "", "header_digest": digest}, nil), code: 503, wantLog: "level=ERROR"},

		"no authorizer":             {event: object{"headers": object{"authorization": authorization}}, code: 500, wantLog: "no verdict"},
		"no header":                 {event: request(good, object{"headers": object{}}), code: 500, wantLog: "no verdict"},
		"no verdict":                {event: request(nil, nil), code: 500, wantLog: "no verdict"},
		"verdict on another header": {event: request(object{"code": 0, "subject": "alice", "header_digest": tokens.Digest("x")}, nil), code: 500, wantLog: "no verdict"},
		"verdict on no header":      {event: request(object{"code": 0, "subject": "alice"}, nil), code: 500, wantLog: "no verdict"},
		"verdict without code":      {event: request(object{"subject": "alice", "header_digest": digest}, nil), code: 500, wantLog: "level=ERROR"},
		"verdict false":             {event: request(object{"code": false, "subject": "alice", "header_digest": digest}, nil), code: 500, wantLog: "level=ERROR"},
		"verdict 1":                 {event: request(object{"code": 1, "subject": "alice", "header_digest": digest}, nil), code: 500, wantLog: "level=ERROR"},
		"verdict without subject":   {event: request(object{"code": 0, "header_digest": digest}, nil), code: 500, wantLog: "level=ERROR"},
		"null":                      {event: nil, code: 500, wantLog: "level=ERROR"},
		"malformed event":           {event: request(good, object{"headers": 1}), code: 500, wantLog: "level=ERROR apigw_request_id=r1"},
		"malformed base64":          {event: request(good, object{"isBase64Encoded": true}), code: 500, wantLog: "level=ERROR"},

		"refusal": {
			do: fail(Error{Code: 409, Message: "no"}), event: request(good, nil), code: 409, body: `"message":"no"`,
			wantLog: "level=INFO error=409 cause=no subject=alice apigw_request_id=r1",
		},
		"refusal with a cause": {
			do: fail(Error{Code: 503, Message: "no"}.Because(errors.New("broken"))), event: request(good, nil), code: 503,
			wantLog: "level=ERROR error=503 cause=broken subject=alice apigw_request_id=r1",
		},
		"unavailable": {
			do: fail(fmt.Errorf("%w: broken", dynamo.ErrUnavailable)), event: request(good, nil), code: 503,
			wantLog: "level=ERROR error=503 broken subject=alice apigw_request_id=r1",
		},
		"failure": {do: fail(errors.New("broken")), event: request(good, nil), code: 500, wantLog: "level=ERROR error=500 cause=broken"},
		"body that is no JSON": {
			do:    func(context.Context, Request) (any, error) { return "\xff", nil },
			event: request(good, nil), code: 500, wantLog: "level=ERROR",
		},
		"panic": {
			do:    func(context.Context, Request) (any, error) { panic("broken") },
			event: request(good, nil), code: 500, wantLog: "api_test.go", // where it happened
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := captureLog(t)
			if test.do == nil {
				test.do = succeed
			}
			answer := invoke(t, test.do, test.event)
			body, _ := answer["body"].(string)
			headers, _ := answer["headers"].(object)
			status := 400.0
			if test.code == 0 {
				status = 200
			} else if !strings.HasPrefix(body, fmt.Sprintf(`{"error":%d,"message":"`, test.code)) || strings.Contains(body, "broken") {
				t.Errorf("the body is %s, want the error %d", body, test.code)
			}
			if answer["statusCode"] != status || !strings.Contains(body, test.body) || headers["content-type"] != "application/json" ||
				(headers["retry-after"] == "1") != (test.code == 503) {
				t.Errorf("the answer is %v, want %v %s", answer, status, test.body)
			}
			if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), "level=ERROR") != (test.code >= 500) {
				t.Errorf("the log is %s, want one line", log)
			}
			for want := range strings.FieldsSeq(test.wantLog) {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log is %s, want %s in it", log, want)
				}
			}
			for _, secret := range []string{"secret", "pst_", digest} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log has %s: %s", secret, log)
				}
			}
		})
	}
}

// store is a tokens.Store that finds nothing.
type store func() error

func (s store) Find(context.Context, string) (tokens.Token, error) { return tokens.Token{}, s() }

// The authorizer lets every request pass, says with which verdict, and logs why the token is no good.
func TestAuthorizer(t *testing.T) {
	for name, test := range map[string]struct {
		tokens  tokens.Store
		headers any
		header  string // on which the verdict is
		code    float64
		subject string
		wantLog string
	}{
		"valid":     {tokens: known, headers: object{"Authorization": authorization}, header: authorization, subject: "alice"},
		"unknown":   {tokens: tokens.Memory{}, headers: object{"authorization": authorization}, header: authorization, code: 401, wantLog: tokens.ErrInvalid.Error()},
		"no header": {tokens: known, code: 401, wantLog: tokens.ErrInvalid.Error()},
		"two headers": {
			tokens: known, headers: object{"Authorization": authorization, "authorization": "Bearer x"}, header: authorization, subject: "alice",
		},
		"unavailable": {
			tokens:  store(func() error { return fmt.Errorf("%w: broken", dynamo.ErrUnavailable) }),
			headers: object{"authorization": authorization}, header: authorization, code: 503, wantLog: "broken",
		},
		"failure": {
			tokens:  store(func() error { return errors.New("broken") }),
			headers: object{"authorization": authorization}, header: authorization, code: 500, wantLog: "broken",
		},
		"panic": {
			tokens:  store(func() error { panic("broken") }),
			headers: object{"authorization": authorization}, header: authorization, code: 500, wantLog: "api_test.go",
		},
		"malformed event": {tokens: known, headers: 1, code: 500, wantLog: "level=ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			log := captureLog(t)
			answer := invoke(t, Authorizer{Tokens: test.tokens}, object{"headers": test.headers})
			verdict, _ := answer["context"].(object)
			if answer["isAuthorized"] != true || verdict["code"] != test.code || verdict["subject"] != test.subject ||
				verdict["header_digest"] != tokens.Digest(test.header) {
				t.Errorf("the answer is %v, want %v %s", answer, test.code, test.subject)
			}
			if got := log.String(); !strings.Contains(got, test.wantLog) || (got == "") != (test.wantLog == "") || strings.Contains(got, "pst_") {
				t.Errorf("the log is %s, want %s in it", got, test.wantLog)
			}
		})
	}
}

// Bytes that are not UTF-8 make a token invalid and stay in a body, which then is no JSON. In another header, they do not
// matter.
func TestBytes(t *testing.T) {
	captureLog(t)
	for name, test := range map[string]struct {
		authorization, city, body string
		code                      int
		valid                     bool // whether the operation gets the body as JSON
	}{
		"none":                {authorization: authorization, city: "Zurich", body: `{\"name\":\"é\"}`, valid: true},
		"in a header":         {authorization: authorization, city: "Z\xfcrich", body: `{\"name\":\"é\"}`, valid: true},
		"in the body":         {authorization: authorization, city: "Zurich", body: "{\\\"name\\\":\\\"\xfc\\\"}"},
		"in the body, as \\u": {authorization: authorization, city: "Zurich", body: `{\"name\":\"\udcfc\"}`},
		"in Authorization":    {authorization: authorization + "\xfc", city: "Zurich", body: "{}", code: 401},
	} {
		t.Run(name, func(t *testing.T) {
			event := func(verdict string) []byte {
				return fmt.Appendf(nil, `{"headers":{"authorization":"%s","x-city":"%s"},"body":"%s","requestContext":%s}`,
					test.authorization, test.city, test.body, verdict)
			}
			verdict, _ := json.Marshal(invokeRaw(t, Authorizer{Tokens: known}, event("{}"))["context"]) // it was unmarshalled
			var do Operation = func(_ context.Context, r Request) (any, error) {
				var members map[string]string
				err := jsonv2.Unmarshal(r.Body, &members)
				if (err == nil) != test.valid || test.valid && members["name"] != "é" || !bytes.Contains(r.Body, []byte("name")) {
					t.Errorf("the operation gets %q", r.Body)
				}
				return object{}, nil
			}
			answer := invokeRaw(t, do, event(`{"authorizer":{"lambda":`+string(verdict)+`}}`))
			if body := fmt.Sprint(answer["body"]); test.code == 0 && body != "{}" || test.code != 0 && !strings.Contains(body, fmt.Sprint(test.code)) {
				t.Errorf("the answer is %s, want %d", body, test.code)
			}
		})
	}
}

// The gateway passes on what a client sent, and answers itself what no function gets.
func TestGateway(t *testing.T) {
	captureLog(t)
	for name, test := range map[string]struct {
		method, path, body string
		want               int
	}{
		"text":          {method: "POST", path: "/plants", body: "é", want: 200},
		"bytes":         {method: "POST", path: "/plants?x=1", body: "\xff", want: 200},
		"another path":  {method: "POST", path: "/plants/1", want: 404},
		"another verb":  {method: "GET", path: "/plants", want: 404},
		"HEAD":          {method: "HEAD", path: "/plants", want: 404},
		"a large body":  {method: "POST", path: "/plants", body: strings.Repeat("x", maxPayload), want: 200},
		"a larger body": {method: "POST", path: "/plants", body: strings.Repeat("x", maxPayload+1), want: 413},
	} {
		t.Run(name, func(t *testing.T) {
			var do Operation = func(_ context.Context, r Request) (any, error) {
				if string(r.Body) != test.body {
					t.Errorf("the function gets %.20q, want %.20q", r.Body, test.body)
				}
				return object{}, nil
			}
			request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.body))
			request.Header.Set("Authorization", authorization)
			answer := httptest.NewRecorder()
			gateway := Gateway{Authorizer: Authorizer{Tokens: known}, Routes: map[string]lambda.Handler{"POST /plants": do}}
			gateway.ServeHTTP(answer, request)
			if answer.Code != test.want || answer.Header().Get("Content-Type") != "application/json" {
				t.Errorf("the answer is %d %s %v, want %d", answer.Code, answer.Body, answer.Header(), test.want)
			}
		})
	}
}

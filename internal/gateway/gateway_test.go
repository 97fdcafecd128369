package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/gateway"
)

const (
	maxBody = 10 << 20
	allow   = `{"isAuthorized":true,"context":{"verdict":"allow","n":7}}`
	ok      = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`

	internal = "Internal Server Error"
)

// function is a Lambda function. Its answer is always the same, and it keeps its
// last event.
type function struct {
	answer string
	err    error

	event   []byte // nil if it was not invoked
	limited bool   // its context has a deadline
	during  func(context.Context)
}

func (f *function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.event = event
	_, f.limited = ctx.Deadline()
	if f.during != nil {
		f.during(ctx)
	}
	return []byte(f.answer), f.err
}

// serve returns the answer of a gateway before the two functions.
func serve(r *http.Request, authorizer, createPlant *function) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	(&gateway.Gateway{
		Authorizer: authorizer,
		Routes:     map[string]gateway.Function{"POST /plants": createPlant},
		Log:        slog.New(slog.DiscardHandler),
		Now:        func() time.Time { return time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)) },
		NewID:      func() string { return "r1" },
	}).ServeHTTP(w, r)
	return w
}

// The events are what AWS sends, for what the gateway promises to imitate.
func TestEvents(t *testing.T) {
	const (
		common = `"version":"2.0","routeKey":"POST /plants","rawPath":"/plants","rawQueryString":"b=2&a=1&a=%20",` +
			`"headers":{"host":"example.com","user-agent":"test","x-twice":"one,two","content-type":"application/json",` +
			`"x-forwarded-for":"192.0.2.1","x-forwarded-port":"1234","x-forwarded-proto":"http"},`
		requestContext = `"requestId":"r1","routeKey":"POST /plants","accountId":"123456789012","apiId":"local",` +
			`"domainName":"example.com","domainPrefix":"local","stage":"$default",` +
			`"time":"01/Mar/2026:12:00:00 +0000","timeEpoch":1772366400000,"http":{"method":"POST","path":"/plants",` +
			`"protocol":"HTTP/1.1","sourceIp":"192.0.2.1","userAgent":"test"}`
	)
	r := httptest.NewRequest(http.MethodPost, "/plants?b=2&a=1&a=%20", strings.NewReader(`{"id":1}`))
	r.Header = http.Header{"User-Agent": {"test"}, "X-Twice": {"one", "two"}, "Content-Type": {"application/json"}}
	authorizer, createPlant := &function{answer: allow}, &function{answer: ok}
	w := serve(r, authorizer, createPlant)
	if w.Code != http.StatusOK || w.Body.String() != "{}" || w.Header().Get("Apigw-Requestid") != "r1" ||
		w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("POST = %d, %s, %v, want the function's answer with the request id", w.Code, w.Body, w.Header())
	}
	checkEvent[events.APIGatewayV2CustomAuthorizerV2Request](t, "authorizer", authorizer,
		`{`+common+`"type":"REQUEST","identitySource":["POST /plants"],"requestContext":{`+requestContext+`},`+
			`"routeArn":"arn:aws:execute-api:us-east-1:123456789012:local/$default/POST/plants"}`)
	checkEvent[events.APIGatewayV2HTTPRequest](t, "function", createPlant,
		`{`+common+`"body":"{\"id\":1}","isBase64Encoded":false,`+
			`"requestContext":{`+requestContext+`,"authorizer":{"lambda":{"verdict":"allow","n":7}}}}`)
}

// checkEvent compares the event of f, which has the members of E and no others.
func checkEvent[E any](t *testing.T, name string, f *function, want string) {
	t.Helper()
	var got, wanted E
	decoder := json.NewDecoder(bytes.NewReader(f.event))
	decoder.DisallowUnknownFields()
	err := errors.Join(decoder.Decode(&got), json.Unmarshal([]byte(want), &wanted))
	if err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("event of the %s =\n%s, %v, want\n%s", name, f.event, err, want)
	}
	if !f.limited {
		t.Errorf("context of the %s has no deadline, want its timeout", name)
	}
}

func TestBodies(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		isBase64                bool
	}{
		{"JSON", "application/json", `{"ä":"<>"}`, false},
		{"JSON in another case, with a parameter", "Application/JSON ; charset=utf-8", "{}", false},
		{"XML", "application/xml", "<a/>", false},
		{"JavaScript", "application/javascript", "x", false},
		{"text", "text/plain", "x", false},
		{"no type", "", "{}", true},
		{"JSON of another kind", "application/problem+json", "{}", true},
		{"bytes", "application/octet-stream", "\x00\xff", true},
		{"JSON that is not UTF-8", "application/json", "\"\xff\"", true},
		{"no JSON", "application/json", "", false},
		{"nothing", "", "", false},
	}
	for _, test := range tests {
		r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(test.body))
		if test.contentType != "" {
			r.Header.Set("Content-Type", test.contentType)
		}
		createPlant := &function{answer: ok}
		serve(r, &function{answer: allow}, createPlant)
		var got events.APIGatewayV2HTTPRequest
		if err := json.Unmarshal(createPlant.event, &got); err != nil {
			t.Errorf("%s: event = %s: %v", test.name, createPlant.event, err)
		}
		want := test.body
		if test.isBase64 {
			want = base64.StdEncoding.EncodeToString([]byte(test.body))
		}
		if got.Body != want || got.IsBase64Encoded != test.isBase64 {
			t.Errorf("%s: event's body = %q, base64 %t, want %q, base64 %t",
				test.name, got.Body, got.IsBase64Encoded, want, test.isBase64)
		}
	}
}

// The answers that API Gateway gives by itself. test/contract has more routes.
func TestAnswers(t *testing.T) {
	status599, broken := strings.Replace(ok, "200", "599", 1), errors.New("broken")
	body := func(size int) io.Reader { return strings.NewReader(strings.Repeat("x", size)) }
	tests := []struct {
		name                    string
		method                  string
		body                    io.Reader
		authorizer, createPlant function
		status                  int
		want                    string // a message of the gateway's own, or a function's body
		invoked                 int    // functions
	}{
		{"the route", "POST", nil, function{answer: allow}, function{answer: ok}, 200, "{}", 2},
		{"the largest body", "POST", body(maxBody), function{answer: allow}, function{answer: ok}, 200, "{}", 2},
		{"a larger body", "POST", body(maxBody + 1), function{}, function{}, 413, "Request Entity Too Large", 0},
		{"a body cut short", "POST", iotest.ErrReader(broken), function{}, function{}, 408, "Request Timeout", 0},

		{"an authorizer that refuses", "POST", nil, function{answer: `{}`}, function{}, 403, "Forbidden", 1},
		{"an authorizer that fails", "POST", nil, function{answer: allow, err: broken}, function{}, 500, internal, 1},
		{"an authorizer that answers no JSON", "POST", nil, function{answer: "yes"}, function{}, 500, internal, 1},

		{"a function that fails", "POST", nil, function{answer: allow}, function{answer: ok, err: broken}, 500, internal, 2},
		{"a function that answers no JSON", "POST", nil, function{answer: allow}, function{answer: "yes"}, 500, internal, 2},
		{"no status", "POST", nil, function{answer: allow}, function{answer: `{}`}, 500, internal, 2},
		{"status 199", "POST", nil, function{answer: allow}, function{answer: `{"statusCode":199}`}, 500, internal, 2},
		{"status 599", "POST", nil, function{answer: allow}, function{answer: status599}, 599, "{}", 2},
		{"status 600", "POST", nil, function{answer: allow}, function{answer: `{"statusCode":600}`}, 500, internal, 2},
	}
	for _, test := range tests {
		w := serve(httptest.NewRequest(test.method, "/plants", test.body), &test.authorizer, &test.createPlant)
		want := test.want
		if want != "{}" {
			want = `{"message":"` + test.want + `"}`
		}
		if w.Code != test.status || w.Body.String() != want {
			t.Errorf("%s: %s = %d, %s, want %d, %s", test.name, test.method, w.Code, w.Body, test.status, want)
		}
		a, f := test.authorizer.event != nil, test.createPlant.event != nil
		if a != (test.invoked > 0) || f != (test.invoked > 1) {
			t.Errorf("%s: authorizer invoked: %t, function invoked: %t, want %d of the two", test.name, a, f, test.invoked)
		}
	}
}

// A Lambda function runs on when its client goes away.
func TestClientGoesAway(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var err error
	leaves := &function{answer: ok, during: func(ctx context.Context) {
		leave()
		err = ctx.Err()
	}}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/plants", http.NoBody)
	serve(r, &function{answer: allow}, leaves)
	if leaves.event == nil || err != nil {
		t.Errorf("function's context ended with %v, want it to go on", err)
	}
}

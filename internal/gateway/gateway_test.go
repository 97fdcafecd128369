package gateway_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/gateway"
)

const (
	allow = `{"isAuthorized":true}`
	ok    = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`
)

// function is a Lambda function with a fixed answer. It records its last event.
type function struct {
	answer string
	event  []byte
}

func (f *function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.event = event
	return []byte(f.answer), ctx.Err()
}

func serve(r *http.Request, authorizer, f *function) *httptest.ResponseRecorder {
	var log bytes.Buffer
	g := gateway.New(authorizer, slog.New(slog.NewTextHandler(&log, nil)))
	g.Handle("POST /plants", f)
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	if strings.Contains(log.String(), "secret") {
		panic("the log has a header: " + log.String())
	}
	return w
}

func TestAnswers(t *testing.T) {
	const failed = `500 {"message":"Internal Server Error"}`
	for _, test := range []struct {
		name, request        string
		body                 io.Reader
		authorizer, function string // what they answer
		want                 string
	}{
		{name: "an answer", function: ok, want: "200 {}"},
		{name: "another path", request: "POST /plants/1", want: `404 {"message":"Not Found"}`},
		{name: "another method", request: "PUT /plants", want: `404 {"message":"Not Found"}`},
		{name: "a body of 10 MB", body: strings.NewReader(strings.Repeat("x", 10<<20)), function: ok, want: "200 {}"},
		{
			name: "a body over 10 MB", body: strings.NewReader(strings.Repeat("x", 10<<20+1)),
			want: `413 {"message":"Request Entity Too Large"}`,
		},
		{name: "a malformed body", body: iotest.ErrReader(errors.New("chunk")), want: `400 {"message":"Bad Request"}`},
		{name: "an authorizer whose answer is not JSON", authorizer: "yes", function: ok, want: failed},
		{name: "a function whose answer is not JSON", function: "yes", want: failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(cmp.Or(test.request, "POST /plants"), " ")
			ctx, leave := context.WithCancel(t.Context())
			leave() // must not stop the function
			r := httptest.NewRequestWithContext(ctx, method, path, test.body)
			r.Header.Set("Authorization", "secret") // must not be logged
			w := serve(r, &function{answer: cmp.Or(test.authorizer, allow)}, &function{answer: test.function})
			if got := fmt.Sprint(w.Code, " ", w.Body); got != test.want || w.Header().Get("Apigw-Requestid") == "" {
				t.Errorf("%s %s = %s with headers %v, want %s with a request id", method, path, got, w.Header(), test.want)
			}
		})
	}
}

// Both events have the request id that the client gets, and lower-case header names. The values of a repeated name are
// joined.
func TestEvents(t *testing.T) {
	authorizer, f := &function{answer: allow}, &function{answer: ok}
	r := httptest.NewRequest(http.MethodPost, "/plants", nil)
	r.Header["X-Name"] = []string{"a", "b"}
	id := serve(r, authorizer, f).Header().Get("Apigw-Requestid")
	for _, content := range [][]byte{authorizer.event, f.event} {
		event := decode(t, content)
		if event.RequestContext.RequestID != id || event.Headers["x-name"] != "a,b" {
			t.Errorf("event = %s, want the request id %s and the header x-name: a,b", content, id)
		}
	}
}

func decode(t *testing.T, content []byte) (event events.APIGatewayV2HTTPRequest) {
	t.Helper()
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatalf("event = %s: %v", content, err)
	}
	return event
}

// A body is in base64 unless its content type says that it is text.
func TestBodies(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		want                    string
		isBase64                bool
	}{
		{"JSON in mixed case, with a parameter", "Application/JSON ; charset=utf-8", `{"ä":"<>"}`, `{"ä":"<>"}`, false},
		{"text", "text/plain", "x", "x", false},
		{"another kind of JSON", "application/problem+json", "{}", "e30=", true},
		{"JSON that is not UTF-8", "application/json", "\"\xff\"", "Iv8i", true},
		{"no content type", "", "{}", "e30=", true},
		{"nothing", "", "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.contentType)
			f := &function{answer: ok}
			serve(r, &function{answer: allow}, f)
			event := decode(t, f.event)
			if event.Body != test.want || event.IsBase64Encoded != test.isBase64 {
				t.Errorf("body = %q, base64: %t, want %q, %t", event.Body, event.IsBase64Encoded, test.want, test.isBase64)
			}
		})
	}
}

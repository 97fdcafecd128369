package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/gateway"
)

const (
	allow = `{"isAuthorized":true}`
	ok    = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`
)

// function is a Lambda function that gives one answer, and keeps its last event.
type function struct {
	answer string
	event  []byte
}

func (f *function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.event = event
	return []byte(f.answer), ctx.Err()
}

func serve(r *http.Request, authorizer, f *function) *httptest.ResponseRecorder {
	g := &gateway.Gateway{
		Authorizer: authorizer,
		Routes:     map[string]lambda.Handler{"POST /plants": f},
		Log:        slog.New(slog.DiscardHandler),
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
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
		{
			name: "a body over 10 MB", body: strings.NewReader(strings.Repeat("x", 10<<20+1)),
			want: `413 {"message":"Request Entity Too Large"}`,
		},
		{name: "a malformed body", body: iotest.ErrReader(errors.New("chunk")), want: `400 {"message":"Bad Request"}`},
		{name: "an authorizer that answers no JSON", authorizer: "yes", function: ok, want: failed},
		{name: "a function that answers no JSON", function: "yes", want: failed},
		{name: "status 199", function: `{"statusCode":199}`, want: failed},
		{name: "status 600", function: `{"statusCode":600}`, want: failed},
		{name: "status 599", function: `{"statusCode":599,"body":"x"}`, want: "599 x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(cmp.Or(test.request, "POST /plants"), " ")
			ctx, leave := context.WithCancel(t.Context())
			leave() // a function runs on when its client goes away
			r := httptest.NewRequestWithContext(ctx, method, path, test.body)
			w := serve(r, &function{answer: cmp.Or(test.authorizer, allow)}, &function{answer: test.function})
			if got := fmt.Sprint(w.Code, " ", w.Body); got != test.want || w.Header().Get("Apigw-Requestid") == "" {
				t.Errorf("%s %s = %s with headers %v, want %s with the id of the request", method, path, got, w.Header(), test.want)
			}
		})
	}
}

// The events of a request are those in events/, with the id that the client gets.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := decode[events.APIGatewayV2HTTPRequest](t, read(t, "createplant/create.json"))
		wantAuthorizer := decode[events.APIGatewayV2CustomAuthorizerV2Request](t, read(t, "authorizer/create.json"))
		wantAuthorizer.Headers = want.Headers // the sample has no Idempotency-Key

		time.Sleep(time.Until(time.UnixMilli(want.RequestContext.TimeEpoch)))
		r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(want.Body))
		for name, value := range want.Headers {
			if !strings.HasPrefix(name, "x-forwarded-") {
				r.Header.Set(name, value)
			}
		}
		r.Header["Accept"] = []string{"a/b", "c/d"} // headers of one name are joined
		want.Headers["accept"] = "a/b,c/d"
		r.Host = want.Headers["host"]
		r.RemoteAddr = want.Headers["x-forwarded-for"] + ":" + want.Headers["x-forwarded-port"]
		verdict, err := json.Marshal(map[string]any{"context": want.RequestContext.Authorizer.Lambda})
		if err != nil {
			t.Fatal(err)
		}
		authorizer, f := &function{answer: string(verdict)}, &function{answer: ok}
		id := serve(r, authorizer, f).Header().Get("Apigw-Requestid")
		want.RequestContext.RequestID, wantAuthorizer.RequestContext.RequestID = id, id
		gotAuthorizer := decode[events.APIGatewayV2CustomAuthorizerV2Request](t, authorizer.event)
		if !reflect.DeepEqual(gotAuthorizer, wantAuthorizer) {
			t.Errorf("event of the authorizer =\n%+v, want\n%+v", gotAuthorizer, wantAuthorizer)
		}
		if got := decode[events.APIGatewayV2HTTPRequest](t, f.event); !reflect.DeepEqual(got, want) {
			t.Errorf("event of the function =\n%+v, want\n%+v", got, want)
		}
	})
}

func read(t *testing.T, sample string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../events/" + sample)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decode[Event any](t *testing.T, content []byte) (event Event) {
	t.Helper()
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatalf("event = %s: %v", content, err)
	}
	return event
}

// A body that API Gateway does not take for text is in base64.
func TestBodies(t *testing.T) {
	for _, test := range []struct{ name, contentType, body, want string }{
		{"JSON in another case, with a parameter", "Application/JSON ; charset=utf-8", `{"ä":"<>"}`, `{"ä":"<>"} false`},
		{"text", "text/plain", "x", "x false"},
		{"JSON of another kind", "application/problem+json", "{}", "e30= true"},
		{"JSON that is not UTF-8", "application/json", "\"\xff\"", "Iv8i true"},
		{"no content type", "", "{}", "e30= true"},
		{"nothing", "", "", " false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.contentType)
			f := &function{answer: ok}
			serve(r, &function{answer: allow}, f)
			event := decode[events.APIGatewayV2HTTPRequest](t, f.event)
			if got := fmt.Sprint(event.Body, " ", event.IsBase64Encoded); got != test.want {
				t.Errorf("body of the event = %s, want %s", got, test.want)
			}
		})
	}
}

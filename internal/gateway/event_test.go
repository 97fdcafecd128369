package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// read decodes a sample event.
func read(t *testing.T, file string, event any) {
	t.Helper()
	content, err := os.ReadFile("../../events/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, event); err != nil {
		t.Fatal(err)
	}
}

// last decodes the last event that a function got.
func last[E any](t *testing.T, f *function) (event E) {
	t.Helper()
	if err := json.Unmarshal(f.event, &event); err != nil {
		t.Fatalf("event = %s: %v", f.event, err)
	}
	return event
}

// The events of a request are those in events/, with the id that the client gets.
func TestEvents(t *testing.T) { synctest.Test(t, testEvents) }

func testEvents(t *testing.T) {
	var want events.APIGatewayV2HTTPRequest
	var wantAuthorizer events.APIGatewayV2CustomAuthorizerV2Request
	read(t, "createplant/create.json", &want)
	read(t, "authorizer/create.json", &wantAuthorizer)
	wantAuthorizer.Headers = want.Headers // the sample has no Idempotency-Key
	wantAuthorizer.PathParameters = nil

	time.Sleep(time.Until(time.UnixMilli(want.RequestContext.TimeEpoch)))
	r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(want.Body))
	r.RemoteAddr = want.Headers["x-forwarded-for"] + ":" + want.Headers["x-forwarded-port"]
	r.Host = want.Headers["host"]
	for name, value := range want.Headers {
		if !strings.HasPrefix(name, "x-forwarded-") && name != "host" {
			r.Header.Set(name, value)
		}
	}
	verdict, err := json.Marshal(map[string]any{"isAuthorized": true, "context": want.RequestContext.Authorizer.Lambda})
	if err != nil {
		t.Fatal(err)
	}
	authorizer, f := answers(string(verdict)), answers(ok)
	id := serve(r, authorizer, f).Header().Get("Apigw-Requestid")
	want.RequestContext.RequestID = id
	wantAuthorizer.RequestContext.RequestID = id
	if got := last[events.APIGatewayV2CustomAuthorizerV2Request](t, authorizer); !reflect.DeepEqual(got, wantAuthorizer) {
		t.Errorf("event of the authorizer =\n%+v, want\n%+v", got, wantAuthorizer)
	}
	if got := last[events.APIGatewayV2HTTPRequest](t, f); !reflect.DeepEqual(got, want) {
		t.Errorf("event of the function =\n%+v, want\n%+v", got, want)
	}
}

func TestBodies(t *testing.T) {
	for _, test := range []struct {
		name              string
		contentType, body string
		isBase64          bool
	}{
		{name: "JSON in another case, with a parameter", contentType: "Application/JSON ; charset=utf-8", body: `{"ä":"<>"}`},
		{name: "text", contentType: "text/plain", body: "x"},
		{name: "JSON of another kind", contentType: "application/problem+json", body: "{}", isBase64: true},
		{name: "JSON that is not UTF-8", contentType: "application/json", body: "\"\xff\"", isBase64: true},
		{name: "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(test.body))
			r.Header.Set("Content-Type", test.contentType)
			f := answers(ok)
			serve(r, answers(allow), f)
			want := test.body
			if test.isBase64 {
				want = base64.StdEncoding.EncodeToString([]byte(test.body))
			}
			got := last[events.APIGatewayV2HTTPRequest](t, f)
			if got.Body != want || got.IsBase64Encoded != test.isBase64 {
				t.Errorf("event's body = %q, base64 %t, want %q, base64 %t", got.Body, got.IsBase64Encoded, want, test.isBase64)
			}
		})
	}
}

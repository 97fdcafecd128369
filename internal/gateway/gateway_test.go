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
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/gateway"
)

const (
	maxBody = 10 << 20
	allow   = `{"isAuthorized":true,"context":{"verdict":"allow","n":7}}`
	ok      = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`
)

var errBroken = errors.New("broken")

// function is a Lambda function that keeps its events.
type function struct {
	invoke func(context.Context) (answer string, err error)
	events [][]byte
}

func (f *function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.events = append(f.events, event)
	answer, err := f.invoke(ctx)
	return []byte(answer), err
}

func answers(answer string) *function {
	return &function{invoke: func(context.Context) (string, error) { return answer, nil }}
}

func fails(err error) *function {
	return &function{invoke: func(context.Context) (string, error) { return "", err }}
}

func hangs() *function {
	return &function{invoke: func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}}
}

// serve returns the response of a gateway with some routes.
func serve(r *http.Request, authorizer, f *function) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	gateway.New(gateway.Options{
		Authorizer: authorizer,
		Routes:     []string{"POST /plants", "GET /plants/{id}", "GET /plants/largest", "GET /plants/{id}/parts/{part}"},
		Function:   f,
		Log:        slog.New(slog.DiscardHandler),
		Now:        func() time.Time { return time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)) },
		NewID:      func() string { return "r1" },
	}).ServeHTTP(w, r)
	return w
}

// decode returns the one event of f, which has the members of E and no others.
func decode[E any](t *testing.T, f *function) E {
	t.Helper()
	var event E
	if len(f.events) != 1 {
		t.Fatalf("function has %d events, want 1", len(f.events))
	}
	decoder := json.NewDecoder(bytes.NewReader(f.events[0]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&event); err != nil {
		t.Fatal(err)
	}
	return event
}

// TestEvents checks that the events are what AWS sends, as far as the package imitates it.
func TestEvents(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/plants/a%20b%3F?b=2&a=1&a=%20", strings.NewReader(`{"id":1}`))
	r.Header = http.Header{"User-Agent": {"test"}, "X-Twice": {"one", "two"}, "Content-Type": {"application/json"}}
	authorizer, f := answers(allow), answers(ok)
	w := serve(r, authorizer, f)
	wantHeader := http.Header{"Apigw-Requestid": {"r1"}, "Content-Type": {"application/json"}}
	if !reflect.DeepEqual(w.Header(), wantHeader) {
		t.Errorf("GET has headers %v, want %v", w.Header(), wantHeader)
	}
	want := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       "GET /plants/{id}",
		RawPath:        "/plants/a b?",
		RawQueryString: "b=2&a=1&a=%20",
		Headers: map[string]string{
			"host": "example.com", "user-agent": "test", "x-twice": "one,two", "content-type": "application/json",
			"x-forwarded-for": "192.0.2.1", "x-forwarded-port": "1234", "x-forwarded-proto": "http",
		},
		PathParameters: map[string]string{"id": "a b?"},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey:     "GET /plants/{id}",
			AccountID:    "123456789012",
			Stage:        "$default",
			RequestID:    "r1",
			APIID:        "local",
			DomainName:   "example.com",
			DomainPrefix: "local",
			Time:         "01/Mar/2026:12:00:00 +0000",
			TimeEpoch:    1772366400000,
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: "GET", Path: "/plants/a b?", Protocol: "HTTP/1.1", SourceIP: "192.0.2.1", UserAgent: "test",
			},
		},
	}
	wantAuthorizer := events.APIGatewayV2CustomAuthorizerV2Request{
		Version:        want.Version,
		Type:           "REQUEST",
		RouteArn:       "arn:aws:execute-api:us-east-1:123456789012:local/$default/GET/plants/{id}",
		IdentitySource: []string{want.RouteKey},
		RouteKey:       want.RouteKey,
		RawPath:        want.RawPath,
		RawQueryString: want.RawQueryString,
		Headers:        want.Headers,
		RequestContext: want.RequestContext,
		PathParameters: want.PathParameters,
	}
	got := decode[events.APIGatewayV2CustomAuthorizerV2Request](t, authorizer)
	if !reflect.DeepEqual(got, wantAuthorizer) {
		t.Errorf("event of the authorizer =\n%+v, want\n%+v", got, wantAuthorizer)
	}
	want.Body = `{"id":1}`
	want.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
		Lambda: map[string]any{"verdict": "allow", "n": 7.0},
	}
	if got := decode[events.APIGatewayV2HTTPRequest](t, f); !reflect.DeepEqual(got, want) {
		t.Errorf("event of the function =\n%+v, want\n%+v", got, want)
	}
}

func TestRoutes(t *testing.T) {
	for _, test := range []struct {
		name, method, target string
		routeKey             string            // "" for 404
		parameters           map[string]string // nil if there are none
	}{
		{name: "no variable", method: "POST", target: "/plants", routeKey: "POST /plants"},
		{name: "an encoded path", method: "GET", target: "/plants/l%61rgest", routeKey: "GET /plants/largest"},
		{
			name: "a variable, decoded once", method: "GET", target: "/plants/%C3%BC%2525",
			routeKey: "GET /plants/{id}", parameters: map[string]string{"id": "ü%25"},
		},
		{
			name: "two variables", method: "GET", target: "/plants/7/parts/8?id=9",
			routeKey: "GET /plants/{id}/parts/{part}", parameters: map[string]string{"id": "7", "part": "8"},
		},

		{name: "a variable spans no encoded slash", method: "GET", target: "/plants/7%2F8"},
		{name: "a variable is not empty", method: "GET", target: "/plants/"},
		{name: "two slashes", method: "POST", target: "//plants"},
		{name: "encoded dots", method: "GET", target: "/plants/%2E%2E"},
		{name: "HEAD is not GET", method: "HEAD", target: "/plants/7"},
		{name: "another method of a path", method: "PUT", target: "/plants"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := answers(ok)
			w := serve(httptest.NewRequest(test.method, test.target, http.NoBody), answers(allow), f)
			if test.routeKey == "" {
				if w.Code != http.StatusNotFound || w.Body.String() != `{"message":"Not Found"}` {
					t.Errorf("%s %s = %d, %s, want 404", test.method, test.target, w.Code, w.Body)
				}
				return
			}
			got := decode[events.APIGatewayV2HTTPRequest](t, f)
			if got.RouteKey != test.routeKey || !reflect.DeepEqual(got.PathParameters, test.parameters) {
				t.Errorf("%s %s is of route %s with %v, want %s with %v",
					test.method, test.target, got.RouteKey, got.PathParameters, test.routeKey, test.parameters)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	for _, test := range []struct {
		name              string
		contentType, body string
		isBase64          bool
	}{
		{name: "JSON", contentType: "application/json", body: `{"ä":"<>"}`},
		{name: "JSON in another case, with a parameter", contentType: "Application/JSON ; charset=utf-8", body: "{}"},
		{name: "XML", contentType: "application/xml", body: "<a/>"},
		{name: "JavaScript", contentType: "application/javascript", body: "x"},
		{name: "text", contentType: "text/plain", body: "x"},
		{name: "no type", body: "{}", isBase64: true},
		{name: "JSON of another kind", contentType: "application/problem+json", body: "{}", isBase64: true},
		{name: "JSON that is not UTF-8", contentType: "application/json", body: "\"\xff\"", isBase64: true},
		{name: "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/plants", strings.NewReader(test.body))
			if test.contentType != "" {
				r.Header.Set("Content-Type", test.contentType)
			}
			f := answers(ok)
			serve(r, answers(allow), f)
			want := test.body
			if test.isBase64 {
				want = base64.StdEncoding.EncodeToString([]byte(test.body))
			}
			got := decode[events.APIGatewayV2HTTPRequest](t, f)
			if got.Body != want || got.IsBase64Encoded != test.isBase64 {
				t.Errorf("event's body = %q, base64 %t, want %q, base64 %t", got.Body, got.IsBase64Encoded, want, test.isBase64)
			}
		})
	}
}

// TestBodySize checks how much of a body the gateway reads. The authorizer refuses every request,
// because a function's event of 10 MB would take seconds.
func TestBodySize(t *testing.T) {
	body := func(size int) io.Reader { return strings.NewReader(strings.Repeat("x", size)) }
	for _, test := range []struct {
		name   string
		body   io.Reader
		status int
		want   string
	}{
		{name: "the largest body", body: body(maxBody), status: 403, want: `{"message":"Forbidden"}`},
		{name: "a larger body", body: body(maxBody + 1), status: 413, want: `{"message":"Request Entity Too Large"}`},
		{name: "a body cut short", body: iotest.ErrReader(errBroken), status: 408, want: `{"message":"Request Timeout"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := serve(httptest.NewRequest(http.MethodPost, "/plants", test.body), answers(`{}`), nil)
			if w.Code != test.status || w.Body.String() != test.want {
				t.Errorf("POST = %d, %s, want %d, %s", w.Code, w.Body, test.status, test.want)
			}
		})
	}
}

// TestAnswers checks the responses to what the authorizer and the function answer.
func TestAnswers(t *testing.T) {
	allowing := answers(allow)
	const failed = `{"message":"Internal Server Error"}`
	for _, test := range []struct {
		name                 string
		authorizer, function *function // nil if it must not be invoked
		status               int
		want                 string
	}{
		{name: "an authorizer that fails", authorizer: fails(errBroken), status: 500, want: failed},
		{name: "an authorizer that answers no JSON", authorizer: answers("yes"), status: 500, want: failed},
		{name: "a function that fails", authorizer: allowing, function: fails(errBroken), status: 500, want: failed},
		{name: "a function that answers no JSON", authorizer: allowing, function: answers("yes"), status: 500, want: failed},
		{name: "a function that answers no status", authorizer: allowing, function: answers("{}"), status: 500, want: failed},
		{name: "status 199", authorizer: allowing, function: answers(`{"statusCode":199}`), status: 500, want: failed},
		{name: "status 200", authorizer: allowing, function: answers(`{"statusCode":200}`), status: 200, want: ""},
		{name: "status 599", authorizer: allowing, function: answers(`{"statusCode":599,"body":"x"}`), status: 599, want: "x"},
		{name: "status 600", authorizer: allowing, function: answers(`{"statusCode":600}`), status: 500, want: failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := serve(httptest.NewRequest(http.MethodPost, "/plants", http.NoBody), test.authorizer, test.function)
			if w.Code != test.status || w.Body.String() != test.want {
				t.Errorf("POST = %d, %s, want %d, %s", w.Code, w.Body, test.status, test.want)
			}
		})
	}
}

// TestTimeouts checks that a function that hangs is stopped, counted from its own start.
func TestTimeouts(t *testing.T) {
	slow := &function{invoke: func(context.Context) (string, error) {
		time.Sleep(time.Second)
		return allow, nil
	}}
	for _, test := range []struct {
		name                 string
		authorizer, function *function
		after                time.Duration
	}{
		{name: "an authorizer", authorizer: hangs(), after: 3 * time.Second},
		{name: "a function", authorizer: answers(allow), function: hangs(), after: 4 * time.Second},
		{name: "a function after a slow authorizer", authorizer: slow, function: hangs(), after: 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := serve(httptest.NewRequest(http.MethodPost, "/plants", http.NoBody), test.authorizer, test.function)
				if after := time.Since(start); w.Code != http.StatusInternalServerError || after != test.after {
					t.Errorf("POST = %d after %v, want 500 after %v", w.Code, after, test.after)
				}
			})
		})
	}
}

// TestClientGoesAway checks that a Lambda function runs on when its client goes away.
func TestClientGoesAway(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	f := &function{invoke: func(ctx context.Context) (string, error) {
		leave()
		return ok, ctx.Err()
	}}
	w := serve(httptest.NewRequestWithContext(ctx, http.MethodPost, "/plants", http.NoBody), answers(allow), f)
	if w.Code != http.StatusOK {
		t.Errorf("POST = %d after its client has gone, want 200", w.Code)
	}
}

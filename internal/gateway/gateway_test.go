package gateway_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/budget"
	"plantstore/internal/gateway"
)

const (
	maxBody = 10 << 20
	allow   = `{"isAuthorized":true}`
	ok      = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`
)

// function is a Lambda function that keeps its last event.
type function struct {
	invoke func(context.Context) (answer string, err error)
	event  []byte
}

func (f *function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.event = event
	answer, err := f.invoke(ctx)
	return []byte(answer), err
}

func answers(answer string) *function {
	return &function{invoke: func(context.Context) (string, error) { return answer, nil }}
}

var hangs = &function{invoke: func(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}}

// serve returns the response of a new gateway with two routes.
func serve(r *http.Request, authorizer, f *function) *httptest.ResponseRecorder {
	g := gateway.New(gateway.Options{
		Authorizer: authorizer,
		Routes:     []string{"POST /plants", "GET /plants/{id}/parts/{part}"},
		Function:   f,
		Log:        slog.New(slog.DiscardHandler),
	})
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

func TestRoutesByMethodAndPath(t *testing.T) {
	for _, test := range []struct {
		name, method, target string
		routeKey             string            // "" for 404
		parameters           map[string]string // nil if there are none
	}{
		{
			name: "two variables, decoded once", method: "GET", target: "/plants/%C3%BC%2525/parts/8?id=9",
			routeKey: "GET /plants/{id}/parts/{part}", parameters: map[string]string{"id": "ü%25", "part": "8"},
		},
		{name: "a variable spans no encoded slash", method: "GET", target: "/plants/7%2F8/parts/8"},
		{name: "two slashes", method: "POST", target: "//plants"},
		{name: "HEAD is not GET", method: "HEAD", target: "/plants/7/parts/8"},
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
			got := last[events.APIGatewayV2HTTPRequest](t, f)
			if got.RouteKey != test.routeKey || !maps.Equal(got.PathParameters, test.parameters) {
				t.Errorf("%s %s is of route %s with %v, want %s with %v",
					test.method, test.target, got.RouteKey, got.PathParameters, test.routeKey, test.parameters)
			}
		})
	}
}

// The largest body is refused by the authorizer, because a function's event of 10 MB would take seconds.
func TestAnswers(t *testing.T) {
	body := func(size int) io.Reader { return strings.NewReader(strings.Repeat("x", size)) }
	allowing, refusing := answers(allow), answers(`{}`)
	const failed = `{"message":"Internal Server Error"}`
	for _, test := range []struct {
		name                 string
		body                 io.Reader
		authorizer, function *function // nil if it must not be invoked
		status               int
		want                 string
		after                time.Duration
	}{
		{name: "the largest body", body: body(maxBody), authorizer: refusing, status: 403, want: `{"message":"Forbidden"}`},
		{name: "a larger body", body: body(maxBody + 1), status: 413, want: `{"message":"Request Entity Too Large"}`},
		{name: "a body that does not end in time", body: iotest.ErrReader(os.ErrDeadlineExceeded), status: 408, want: `{"message":"Request Timeout"}`},
		{name: "a malformed body", body: iotest.ErrReader(errors.New("broken")), status: 400, want: `{"message":"Bad Request"}`},
		{name: "a function that answers no JSON", authorizer: allowing, function: answers("yes"), status: 500, want: failed},
		{name: "an authorizer that hangs", authorizer: hangs, status: 500, want: failed, after: budget.AuthorizerTimeout},
		{name: "a function that hangs", authorizer: allowing, function: hangs, status: 500, want: failed, after: budget.OperationTimeout},
		{name: "status 199", authorizer: allowing, function: answers(`{"statusCode":199}`), status: 500, want: failed},
		{name: "status 200", authorizer: allowing, function: answers(ok), status: 200, want: "{}"},
		{name: "status 599", authorizer: allowing, function: answers(`{"statusCode":599,"body":"x"}`), status: 599, want: "x"},
		{name: "status 600", authorizer: allowing, function: answers(`{"statusCode":600}`), status: 500, want: failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := serve(httptest.NewRequest(http.MethodPost, "/plants", test.body), test.authorizer, test.function)
				if after := time.Since(start); w.Code != test.status || w.Body.String() != test.want || after != test.after {
					t.Errorf("POST = %d, %s after %v, want %d, %s after %v", w.Code, w.Body, after, test.status, test.want, test.after)
				}
				if w.Header().Get("Apigw-Requestid") == "" {
					t.Errorf("POST = headers %v, want the id of the request", w.Header())
				}
			})
		})
	}
}

// A Lambda function runs on when its client goes away.
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

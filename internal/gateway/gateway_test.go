package gateway_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

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

// serve returns the response of a gateway.
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

func TestRoutes(t *testing.T) {
	for _, test := range []struct{ name, method, target string }{
		{"another path", "POST", "/plants/1"},
		{"two slashes", "POST", "//plants"},
		{"another method", "PUT", "/plants"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := serve(httptest.NewRequest(test.method, test.target, http.NoBody), nil, nil)
			if w.Code != http.StatusNotFound || w.Body.String() != `{"message":"Not Found"}` {
				t.Errorf("%s %s = %d, %s, want 404", test.method, test.target, w.Code, w.Body)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	body := func(size int) io.Reader { return strings.NewReader(strings.Repeat("x", size)) }
	allowing := answers(allow)
	const failed = `{"message":"Internal Server Error"}`
	for _, test := range []struct {
		name                 string
		body                 io.Reader
		authorizer, function *function // nil if it must not be invoked
		status               int
		want                 string
		after                time.Duration
	}{
		{name: "a larger body", body: body(maxBody + 1), status: 413, want: `{"message":"Request Entity Too Large"}`},
		{name: "a malformed body", body: iotest.ErrReader(errors.New("broken")), status: 400, want: `{"message":"Bad Request"}`},
		{name: "a function that answers no JSON", authorizer: allowing, function: answers("yes"), status: 500, want: failed},
		{name: "status 199", authorizer: allowing, function: answers(`{"statusCode":199}`), status: 500, want: failed},
		{name: "status 200", authorizer: allowing, function: answers(ok), status: 200, want: "{}"},
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

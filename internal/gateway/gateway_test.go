package gateway_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

const (
	maxBody = 10 << 20
	allow   = `{"isAuthorized":true,"context":{"verdict":"allow","n":7}}`
	ok      = `{"statusCode":200,"headers":{"content-type":"application/json"},"body":"{}"}`
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The gateway with the real handlers and stores in memory, in one conversation.
func TestService(t *testing.T) {
	log, clock := slog.New(slog.DiscardHandler), func() time.Time { return now }
	tokens := new(memory.TokenStore)
	secret, issued, err := token.Issue(rand.Reader, "gardener", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := tokens.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	url := serve(t,
		&api.Authorizer{Tokens: token.Verifier{Store: tokens, Now: clock}, Log: log, Now: clock},
		&api.CreatePlant{Plants: new(memory.PlantStore), Log: log, Now: clock, NewKey: rand.Text})
	bearer, keyed := "Authorization: Bearer "+secret, "Idempotency-Key: k"
	steps := []struct {
		name    string
		headers []string
		body    string
		status  int
		want    string // the start of the body
	}{
		{"a plant", []string{bearer, keyed}, `{"id":1,"name":"oak","tag":"ä"}`, 200, `{"name":"oak","tag":"ä"}`},
		{"another with the same key", []string{bearer, keyed}, `{"id":1,"name":"elm"}`, 400, `{"error":3002,`},
		{"the same id without a key", []string{bearer}, `{"id":1,"name":"oak","tag":"ä"}`, 400, `{"error":3001,`},
		{"a body of no type, which comes in base64", []string{bearer}, `{"id":2,"name":"oak"}`, 200, `{"name":"oak"}`},
		{"a body that is not UTF-8", []string{bearer, "Content-Type: application/json"}, "{\"id\":3,\"name\":\"\xff\"}", 400, `{"error":1003,`},
		{"no token", nil, `{"id":4,"name":"oak"}`, 400, `{"error":2001,`},
		{"two tokens", []string{bearer, bearer}, `{"id":4,"name":"oak"}`, 400, `{"error":2002,`},
		{"a token that is not UTF-8", []string{"Authorization: Bearer \xff"}, `{"id":4,"name":"oak"}`, 400, `{"error":2002,`},
	}
	for _, step := range steps {
		got := send(t, http.MethodPost, url+"/plants", step.body, step.headers...)
		if got.status != step.status || !strings.HasPrefix(got.body, step.want) || got.headers.Get("Content-Type") != "application/json" {
			t.Errorf("%s: POST = %d, %s, want %d, %s", step.name, got.status, got.body, step.status, step.want)
		}
	}
}

func TestEvents(t *testing.T) {
	authorizer, function := answers(allow), answers(ok)
	url := serve(t, authorizer, function)
	got := send(t, http.MethodPost, url+"/plants?b=2&a=1&a=%20", `{"id":1}`, "Content-Type: application/json",
		"X-Twice: one", "x-twice: two", "User-Agent: test")
	if got.status != 200 || got.body != "{}" || got.headers.Get("Apigw-Requestid") != "r1" {
		t.Errorf("POST = %d, %s, %v, want the function's answer with the request id", got.status, got.body, got.headers)
	}
	var (
		a events.APIGatewayV2CustomAuthorizerV2Request
		f events.APIGatewayV2HTTPRequest
	)
	strictly(t, authorizer.received(), &a)
	strictly(t, function.received(), &f)
	if strings.Contains(string(authorizer.received()), `"body"`) || strings.Contains(string(authorizer.received()), `{\"id\":1}`) {
		t.Errorf("authorizer's event = %s, want no body", authorizer.received())
	}
	host := strings.TrimPrefix(url, "http://")
	headers := map[string]string{
		"accept-encoding": "gzip", "content-length": "8", "content-type": "application/json", "host": host,
		"user-agent": "test", "x-forwarded-for": "127.0.0.1", "x-forwarded-port": f.Headers["x-forwarded-port"], "x-forwarded-proto": "http", "x-twice": "one,two",
	}
	tests := []struct {
		name      string
		got, want any
	}{
		{"authorizer's type", a.Type, "REQUEST"},
		{"authorizer's routeKey", a.RouteKey, "POST /plants"},
		{"authorizer's identitySource", a.IdentitySource, []string{"POST /plants"}},
		{"authorizer's headers", a.Headers, headers},
		{"authorizer's requestContext.requestId", a.RequestContext.RequestID, "r1"},
		{"authorizer's requestContext.authorizer", a.RequestContext.Authorizer == nil, true},
		{"version", f.Version, "2.0"},
		{"routeKey", f.RouteKey, "POST /plants"},
		{"rawPath", f.RawPath, "/plants"},
		{"rawQueryString", f.RawQueryString, "b=2&a=1&a=%20"},
		{"headers", f.Headers, headers},
		{"body", f.Body, `{"id":1}`},
		{"isBase64Encoded", f.IsBase64Encoded, false},
		{"requestContext.requestId", f.RequestContext.RequestID, "r1"},
		{"requestContext.timeEpoch", f.RequestContext.TimeEpoch, now.UnixMilli()},
		{"requestContext.http.method", f.RequestContext.HTTP.Method, "POST"},
		{"requestContext.http.path", f.RequestContext.HTTP.Path, "/plants"},
		{"requestContext.http.sourceIp", f.RequestContext.HTTP.SourceIP, "127.0.0.1"},
		{"requestContext.authorizer.lambda", f.RequestContext.Authorizer.Lambda, map[string]any{"verdict": "allow", "n": 7.0}},
	}
	for _, test := range tests {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s = %#v, want %#v", test.name, test.got, test.want)
		}
	}
}

func TestBodies(t *testing.T) {
	tests := []struct {
		name        string
		contentType string
		body        string
		isBase64    bool
	}{
		{"JSON", "application/json", `{"ä":"<>"}`, false},
		{"JSON in another case, with a parameter", "Application/JSON ; charset=utf-8", "{}", false},
		{"XML", "application/xml", "<a/>", false},
		{"JavaScript", "application/javascript", "x", false},
		{"text", "text/plain", "x", false},
		{"no type", "", "{}", true},
		{"curl's default", "application/x-www-form-urlencoded", "{}", true},
		{"JSON of another kind", "application/problem+json", "{}", true},
		{"bytes", "application/octet-stream", "\x00\xff", true},
		{"JSON that is not UTF-8", "application/json", "\"\xff\"", true},
		{"no JSON", "application/json", "", false},
		{"nothing", "", "", false},
	}
	for _, test := range tests {
		function := answers(ok)
		url := serve(t, answers(allow), function)
		var headers []string
		if test.contentType != "" {
			headers = []string{"Content-Type: " + test.contentType}
		}
		send(t, http.MethodPost, url+"/plants", test.body, headers...)
		var got events.APIGatewayV2HTTPRequest
		strictly(t, function.received(), &got)
		want := test.body
		if test.isBase64 {
			want = base64.StdEncoding.EncodeToString([]byte(test.body))
		}
		if got.Body != want || got.IsBase64Encoded != test.isBase64 {
			t.Errorf("%s: event's body = %q, base64 %t, want %q, base64 %t", test.name, got.Body, got.IsBase64Encoded, want, test.isBase64)
		}
	}
}

func TestAnswers(t *testing.T) {
	const (
		notFound  = `{"message":"Not Found"}`
		tooLarge  = `{"message":"Request Entity Too Large"}`
		forbidden = `{"message":"Forbidden"}`
		internal  = `{"message":"Internal Server Error"}`
	)
	broken, late := errors.New("broken"), context.DeadlineExceeded
	tests := []struct {
		name                 string
		method, path, body   string
		authorizer, function reply
		status               int
		want                 string
		called               string // which functions were
	}{
		{"the route", "POST", "/plants", "", reply{answer: allow}, reply{answer: ok}, 200, "{}", "both"},
		{"another path", "POST", "/", "", reply{answer: allow}, reply{answer: ok}, 404, notFound, "none"},
		{"a longer path", "POST", "/plants/1", "", reply{answer: allow}, reply{answer: ok}, 404, notFound, "none"},
		{"a path in another case", "POST", "/Plants", "", reply{answer: allow}, reply{answer: ok}, 404, notFound, "none"},
		{"another method", "GET", "/plants", "", reply{answer: allow}, reply{answer: ok}, 404, notFound, "none"},
		{"a method to ask for methods", "OPTIONS", "/plants", "", reply{answer: allow}, reply{answer: ok}, 404, notFound, "none"},
		{"the largest body", "POST", "/plants", strings.Repeat("x", maxBody), reply{answer: allow}, reply{answer: ok}, 200, "{}", "both"},
		{"a body one byte larger", "POST", "/plants", strings.Repeat("x", maxBody+1), reply{answer: allow}, reply{answer: ok}, 413, tooLarge, "none"},

		{"an authorizer that refuses", "POST", "/plants", "", reply{answer: `{"isAuthorized":false}`}, reply{answer: ok}, 403, forbidden, "authorizer"},
		{"an authorizer that fails", "POST", "/plants", "", reply{err: broken}, reply{answer: ok}, 500, internal, "authorizer"},
		{"an authorizer that is late", "POST", "/plants", "", reply{err: late}, reply{answer: ok}, 500, internal, "authorizer"},
		{"an authorizer that answers no JSON", "POST", "/plants", "", reply{answer: "yes"}, reply{answer: ok}, 500, internal, "authorizer"},

		{"a function that fails", "POST", "/plants", "", reply{answer: allow}, reply{err: broken}, 500, internal, "both"},
		{"a function that is late", "POST", "/plants", "", reply{answer: allow}, reply{err: late}, 500, internal, "both"},
		{"a function that answers no JSON", "POST", "/plants", "", reply{answer: allow}, reply{answer: "yes"}, 500, internal, "both"},
		{"a function that answers no status", "POST", "/plants", "", reply{answer: allow}, reply{answer: `{"statusCode":0}`}, 500, internal, "both"},
		{"a function that answers no status of HTTP", "POST", "/plants", "", reply{answer: allow}, reply{answer: `{"statusCode":1000}`}, 500, internal, "both"},
	}
	for _, test := range tests {
		authorizer, function := &recorder{reply: test.authorizer}, &recorder{reply: test.function}
		got := send(t, test.method, serve(t, authorizer, function)+test.path, test.body)
		if got.status != test.status || got.body != test.want {
			t.Errorf("%s: %s %s = %d, %s, want %d, %s", test.name, test.method, test.path, got.status, got.body, test.status, test.want)
		}
		called := map[[2]bool]string{{true, true}: "both", {true, false}: "authorizer", {false, false}: "none"}
		if got := called[[2]bool{authorizer.received() != nil, function.received() != nil}]; got != test.called {
			t.Errorf("%s: %s %s called %s, want %s", test.name, test.method, test.path, got, test.called)
		}
	}
}

// A Lambda function runs on when its client goes away.
func TestClientGoesAway(t *testing.T) {
	running, gone := make(chan struct{}), make(chan context.Context, 1)
	result := make(chan error, 1)
	g := newGateway(answers(allow), function(func(ctx context.Context) {
		close(running)
		<-(<-gone).Done()
		result <- ctx.Err()
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gone <- r.Context()
		g.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-running
		leave()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/plants", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := server.Client().Do(request); err == nil {
		_ = response.Body.Close()
		t.Fatalf("POST = %d, want none, as the client left", response.StatusCode)
	}
	if err := <-result; err != nil {
		t.Errorf("function's context ended with %v, want it to go on", err)
	}
}

// reply is what a function answers.
type reply struct {
	answer string
	err    error
}

// recorder is a function that keeps its event and always answers the same.
type recorder struct {
	reply
	mu    sync.Mutex
	event []byte
}

func answers(answer string) *recorder { return &recorder{reply: reply{answer: answer}} }

func (r *recorder) Invoke(_ context.Context, event []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event = event
	return []byte(r.answer), r.err
}

// received returns the last event, or nil where there was none.
func (r *recorder) received() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.event
}

// function is a Lambda function that answers an empty object.
type function func(context.Context)

func (f function) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	f(ctx)
	return []byte(ok), nil
}

func newGateway(authorizer, createPlant gateway.Function) *gateway.Gateway {
	return &gateway.Gateway{
		Authorizer: authorizer,
		Routes:     map[string]gateway.Function{"POST /plants": createPlant},
		Log:        slog.New(slog.DiscardHandler),
		Now:        func() time.Time { return now },
		NewID:      func() string { return "r1" },
	}
}

// serve starts a gateway for the time of the test and returns its URL.
func serve(t *testing.T, authorizer, createPlant gateway.Function) string {
	t.Helper()
	server := httptest.NewUnstartedServer(newGateway(authorizer, createPlant))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// answered is a response, or the zero value where there was none.
type answered struct {
	status  int
	headers http.Header
	body    string
}

// send sends a request with the headers, each as "Name: value".
func send(t *testing.T, method, url, body string, headers ...string) answered {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Add(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Errorf("%s %s = %v, want a response", method, url, err)
		return answered{}
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
	return answered{response.StatusCode, maps.Clone(response.Header), string(content)}
}

// strictly decodes an event, which must have no member that AWS does not send.
func strictly(t *testing.T, event []byte, value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		t.Errorf("event = %s: %v", event, err)
	}
}

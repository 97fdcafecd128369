package dynamo

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// fake is a server in place of DynamoDB. Its first attempts decide what it does with the first requests,
// one each; the last attempt repeats. Without attempts, nothing listens.
type fake struct {
	*httptest.Server
	attempts []http.HandlerFunc

	mu       sync.Mutex
	requests []request
}

// request is a request that the fake received.
type request struct {
	*http.Request
	body string
}

func newFake(t *testing.T, attempts ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{attempts: attempts}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	if len(attempts) == 0 {
		f.Close()
	}
	return f
}

// ServeHTTP records a request and lets the next attempt answer it.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client gave up
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	next := f.attempts[min(len(f.requests), len(f.attempts)-1)]
	f.requests = append(f.requests, request{Request: r, body: string(body)})
	f.mu.Unlock()
	next(w, r)
}

// received returns the requests so far.
func (f *fake) received() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// client returns a function's client of the fake.
func (f *fake) client() *dynamodb.Client { return functionClient("us-east-1", f.URL) }

// functionClient returns a function's client of the DynamoDB at endpoint, or of AWS's if endpoint is empty.
func functionClient(region, endpoint string) *dynamodb.Client {
	return NewFunctionClient(configuration(region, endpoint), slog.New(slog.DiscardHandler))
}

func configuration(region, endpoint string) aws.Config {
	cfg := aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}

// do returns what the fake does, one attempt after the other.
func do(attempts ...http.HandlerFunc) []http.HandlerFunc { return attempts }

var (
	succeed = answer(http.StatusOK, "{}")
	fail    = answer(http.StatusInternalServerError, errorBody("InternalServerError"))
)

// refuse returns DynamoDB's refusal with this error.
func refuse(errorType string) http.HandlerFunc { return refuseWith(errorBody(errorType)) }

func refuseWith(body string) http.HandlerFunc { return answer(http.StatusBadRequest, body) }

func errorBody(errorType string) string {
	return `{"__type":"com.amazonaws.dynamodb.v20120810#` + errorType + `"}`
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// begin sends a part of an answer, after which the fake does what next says.
func begin(status int, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		answer(status, "{").ServeHTTP(w, r)
		_ = http.NewResponseController(w).Flush()
		next(w, r)
	}
}

// thenClose stops to listen and does what last says.
func thenClose(last http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
		noWait, cancel := context.WithCancel(r.Context())
		cancel()
		_ = server.Shutdown(noWait)
		last(w, r)
	}
}

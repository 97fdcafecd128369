package dynamo

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// fake is a server in place of DynamoDB, in the bubble of a test. Its attempts decide what it does with
// the requests, one each; the last attempt repeats.
type fake struct {
	network func(ctx context.Context, network, address string) (net.Conn, error)

	mutex       sync.Mutex
	attempts    []http.HandlerFunc
	requests    []request
	connections int // so far
}

// noServer is an attempt whose host is not found, as in an outage of DNS. The SDK alone would give up.
var noServer http.HandlerFunc

// request is a request that the fake received.
type request struct {
	*http.Request
	body string
}

func newFake(t *testing.T, attempts ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{attempts: attempts}
	transport, _ := httptest.NewTestServer(t, f).Client().Transport.(*http.Transport)
	f.network = transport.DialContext
	return f
}

// next returns the attempt that decides about the next request. The caller holds mutex.
func (f *fake) next() http.HandlerFunc {
	return f.attempts[min(len(f.requests), len(f.attempts)-1)]
}

// dial opens a connection, unless there is no server.
func (f *fake) dial(ctx context.Context, network, address string) (net.Conn, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.next() == nil {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	f.connections++
	return f.network(ctx, network, address)
}

// ServeHTTP records a request and lets the next attempt answer it.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client gave up
	}
	f.mutex.Lock()
	attempt := f.next()
	f.requests = append(f.requests, request{Request: r, body: string(body)})
	if f.next() == nil {
		w.Header().Set("Connection", "close")
	}
	f.mutex.Unlock()
	attempt(w, r)
}

// does replaces the attempts.
func (f *fake) does(attempts ...http.HandlerFunc) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.attempts = attempts
}

// received returns the requests so far.
func (f *fake) received() []request {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Clone(f.requests)
}

// client returns a function's client whose connections are to the fake.
func (f *fake) client() *dynamodb.Client {
	options := functionClient("us-east-1", "http://fake").Options()
	transport, _ := options.HTTPClient.(*awshttp.BuildableClient)
	options.HTTPClient = transport.WithTransportOptions(func(t *http.Transport) { t.DialContext = f.dial })
	return dynamodb.New(options)
}

// The stores in the fake.
func (f *fake) plants() *Plants { return &Plants{Client: f.client(), Table: "plants"} }
func (f *fake) tokens() *Tokens { return &Tokens{Client: f.client(), Table: "tokens"} }

// functionClient returns a function's client of the DynamoDB at endpoint, or of AWS's if endpoint is
// empty.
func functionClient(region, endpoint string) *dynamodb.Client {
	cfg := aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return NewFunctionClient(cfg, slog.New(slog.DiscardHandler))
}

// do returns what the fake does, one attempt after the other.
func do(attempts ...http.HandlerFunc) []http.HandlerFunc { return attempts }

var (
	succeed  = answer(http.StatusOK, "{}")
	fail     = answer(http.StatusInternalServerError, errorBody("InternalServerError"))
	throttle = refuse("ThrottlingException")
	limit    = refuse("RequestLimitExceeded")
	deny     = refuse("AccessDeniedException")
	noTable  = refuse("ResourceNotFoundException")
)

// namespace precedes the name of an error in DynamoDB's answers.
const namespace = "com.amazonaws.dynamodb.v20120810#"

// refuse returns DynamoDB's refusal with this error.
func refuse(errorType string) http.HandlerFunc { return refuseWith(errorBody(errorType)) }

func refuseWith(body string) http.HandlerFunc { return answer(http.StatusBadRequest, body) }

func errorBody(errorType string) string {
	return `{"__type":"` + namespace + errorType + `"}`
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

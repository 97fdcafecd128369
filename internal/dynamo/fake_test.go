package dynamo

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/test/pipenet"
)

// fake is a server in place of DynamoDB, in the bubble of a test. Its first attempts decide what it does with
// the first requests, one each; the last attempt repeats. Without attempts, nothing listens.
type fake struct {
	*pipenet.Listener
	attempts []http.HandlerFunc

	mu          sync.Mutex
	requests    []request
	connections int // so far
}

// request is a request that the fake received.
type request struct {
	*http.Request
	body string
}

func newFake(t *testing.T, attempts ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{Listener: pipenet.Listen(), attempts: attempts}
	if len(attempts) == 0 {
		_ = f.Close()
	}
	server := &http.Server{Handler: f, ConnState: f.count} //nolint:gosec // its clients are tests
	go server.Serve(f)                                     //nolint:errcheck // it ends with the test
	t.Cleanup(func() {
		_ = server.Close()
		time.Sleep(10 * time.Millisecond) // a bubble must not end before ServeHTTP does
	})
	return f
}

// count counts connections, for [http.Server.ConnState].
func (f *fake) count(_ net.Conn, state http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state == http.StateNew {
		f.connections++
	}
}

// ServeHTTP records a request and lets the next attempt answer it.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client gave up
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	// An answer may come before the client has finished to send: then the SDK closes the connection.
	time.Sleep(time.Millisecond)
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
func (f *fake) client() *dynamodb.Client {
	return f.connect(functionClient("us-east-1", "http://fake"))
}

// connect returns a client that differs from another in its connections: they are to the fake.
func (f *fake) connect(client *dynamodb.Client) *dynamodb.Client {
	options := client.Options()
	transport, _ := options.HTTPClient.(*awshttp.BuildableClient)
	options.HTTPClient = transport.WithTransportOptions(func(t *http.Transport) { t.DialContext = f.Dial })
	return dynamodb.New(options)
}

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
	succeed  = answer(http.StatusOK, "{}")
	fail     = answer(http.StatusInternalServerError, errorBody("InternalServerError"))
	throttle = refuse("ThrottlingException")
	deny     = refuse("AccessDeniedException")
	noTable  = refuse("ResourceNotFoundException")

	// conditionFails is the refusal of an operation whose condition fails, without the item.
	conditionFails = refuse("ConditionalCheckFailedException")
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

// after waits and does what next says, unless the client has given up by then.
func after(wait time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(wait):
			next(w, r)
		case <-r.Context().Done():
		}
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

// thenClose does with an attempt what last says, and accepts no connection after it.
func thenClose(last http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
		noWait, cancel := context.WithCancel(r.Context())
		cancel()
		_ = server.Shutdown(noWait)
		last(w, r)
	}
}

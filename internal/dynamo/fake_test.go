package dynamo

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// fake is a server in place of DynamoDB, in the bubble of a test, and the HTTP client that reaches it. Its
// attempts decide what the server does with the requests, one each; the last attempt repeats.
type fake struct {
	attempts    []http.HandlerFunc
	http        aws.HTTPClient
	requests    []request // so far
	connections atomic.Int64
}

// noServer is an attempt whose host is not found, as in an outage of DNS. The SDK alone would give up.
var noServer http.HandlerFunc

// request is a request of the client.
type request struct {
	*http.Request
	body string
}

func newFake(t *testing.T, attempts ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{attempts: attempts}
	network, _ := httptest.NewTestServer(t, f).Client().Transport.(*http.Transport)
	client, _ := functionClient("us-east-1", "http://fake").Options().HTTPClient.(*awshttp.BuildableClient)
	f.http = client.WithTransportOptions(func(t *http.Transport) {
		t.DialContext = func(ctx context.Context, protocol, address string) (net.Conn, error) {
			f.connections.Add(1)
			return network.DialContext(ctx, protocol, address)
		}
	})
	return f
}

// Do implements [aws.HTTPClient]. It records a request and sends it to the path of its attempt.
func (f *fake) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // from memory
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	attempt := min(len(f.requests), len(f.attempts)-1)
	f.requests = append(f.requests, request{Request: r, body: string(body)})
	if f.attempts[attempt] == nil {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	numbered := r.Clone(r.Context())
	numbered.URL.Path = "/" + strconv.Itoa(attempt)
	return f.http.Do(numbered)
}

// ServeHTTP lets the attempt of a request answer it.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	attempt, _ := strconv.Atoi(r.URL.Path[1:])
	_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client gave up
	f.attempts[attempt](w, r)
}

// client returns a function's client of the fake.
func (f *fake) client() *dynamodb.Client {
	options := functionClient("us-east-1", "http://fake").Options()
	options.HTTPClient = f
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

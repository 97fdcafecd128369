package faults

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"plantstore/test/dynamotest"
)

// A fault is what happens to an attempt: DynamoDB carries it out or not, and the answer is not its own.
type fault struct {
	isApplied bool
	answer    http.HandlerFunc
}

// faults lose an attempt before DynamoDB carries it out, or afterwards, or refuse it. The tests of
// internal/dynamo know each kind of answer.
var faults = []fault{
	{isApplied: false, answer: hangUp},
	{isApplied: true, answer: hangUp},
	{isApplied: false, answer: stall},
	{isApplied: true, answer: stall},
	{isApplied: false, answer: throttle},
}

// hangUp closes the connection.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// stall answers nothing until the client gives up.
func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// throttle refuses an attempt.
func throttle(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}`)
}

const always = 1 << 20 // attempts, which outlast every budget

// proxy stands between the service and DynamoDB Local.
type proxy struct {
	*httptest.Server
	dynamoDB http.Handler

	mutex sync.Mutex
	fault fault
	left  int // attempts that meet the fault
}

var transport = &http.Transport{MaxIdleConnsPerHost: 100} // of all proxies

func newProxy(t *testing.T) *proxy {
	t.Helper()
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	dynamoDB := httputil.NewSingleHostReverseProxy(endpoint)
	dynamoDB.Transport = transport
	p := &proxy{dynamoDB: dynamoDB}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	return p
}

// meets lets the next attempts meet a fault, and all others none.
func (p *proxy) meets(f fault, attempts int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.fault = f
	p.left = attempts
}

// next returns the fault that the next attempt meets, if it does.
func (p *proxy) next() (f fault, meets bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.left == 0 {
		return fault{}, false
	}
	p.left--
	return p.fault, true
}

// ServeHTTP lets an attempt meet the fault, or passes it on.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f, meets := p.next()
	if !meets {
		p.dynamoDB.ServeHTTP(w, r)
		return
	}
	if f.isApplied { // even if the client has gone away
		p.dynamoDB.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	}
	f.answer(w, r)
}

package faults

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
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
	fault    fault
	failing  atomic.Int64 // the next attempts, which meet the fault
}

var transport = &http.Transport{MaxIdleConnsPerHost: 100} // of all proxies

func newProxy(t *testing.T, f fault, failing int64) *proxy {
	t.Helper()
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	dynamoDB := httputil.NewSingleHostReverseProxy(endpoint)
	dynamoDB.Transport = transport
	p := &proxy{dynamoDB: dynamoDB, fault: f}
	p.failing.Store(failing)
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	return p
}

// ServeHTTP lets an attempt meet the fault, or passes it on.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if p.failing.Add(-1) < 0 {
		p.dynamoDB.ServeHTTP(w, r)
		return
	}
	if p.fault.isApplied { // even if the client has gone away
		p.dynamoDB.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	}
	p.fault.answer(w, r)
}

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

// A fault is what happens to an attempt in place of DynamoDB's answer.
type fault func(p *proxy, w http.ResponseWriter, r *http.Request)

// faults lose an attempt before DynamoDB carries it out, or afterwards, or refuse it. The tests of
// internal/dynamo know each kind of answer.
var faults = []fault{
	hangUp, after(hangUp),
	stall, after(stall),
	throttle,
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

// newDynamoDB returns a server that passes attempts on to DynamoDB Local.
func newDynamoDB(t *testing.T) http.Handler {
	t.Helper()
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(endpoint)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 100}
	return proxy
}

func newProxy(t *testing.T, dynamoDB http.Handler) *proxy {
	t.Helper()
	p := &proxy{dynamoDB: dynamoDB, fault: pass}
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

// next returns what happens to the next attempt.
func (p *proxy) next() fault {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.left == 0 {
		return pass
	}
	p.left--
	return p.fault
}

// ServeHTTP lets an attempt meet the fault, or passes it on.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.next()(p, w, r)
}

// pass is no fault.
func pass(p *proxy, w http.ResponseWriter, r *http.Request) { p.dynamoDB.ServeHTTP(w, r) }

// after returns a fault after DynamoDB carried the attempt out, even if the client has gone away.
func after(f fault) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		p.dynamoDB.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
		f(p, w, r)
	}
}

// hangUp closes the connection.
func hangUp(*proxy, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// stall answers nothing until the client gives up.
func stall(_ *proxy, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// throttle refuses an attempt, which DynamoDB then does not carry out.
func throttle(_ *proxy, w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}`)
}

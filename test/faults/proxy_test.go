package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/dynamotest"
)

// A fault is one way in which an attempt of an operation can fail.
type fault struct {
	name    string
	host    string         // an address to which the attempt goes in place of the proxy
	meet    func(exchange) // what the proxy does with the attempt
	lasting []int          // what createplant may answer if every attempt meets the fault

	// lie means that DynamoDB carries the attempt out and answers that it did not. It does not do so. One
	// lie must do no harm; if every answer is one, no client can know.
	lie bool
}

// What createplant may answer while a fault lasts. The outcome of an attempt that the deadline
// interrupts is unknown.
var (
	notSent = []int{5002}
	refused = []int{5002, 5004}
	unknown = []int{5004}
)

// faults are the places where an attempt can fail: before DynamoDB, after it, or within its answer. The
// tests of internal/dynamo know each kind of answer.
var faults = []*fault{
	{name: "connection refused", host: "127.0.0.1:1", lasting: notSent},
	{name: "no such host", host: "plantstore.invalid:80", lasting: notSent},
	{name: "reset before", meet: exchange.reset, lasting: unknown},
	{name: "reset after", meet: after(exchange.reset), lasting: unknown},
	{name: "close before", meet: exchange.close, lasting: unknown},
	{name: "close after", meet: after(exchange.close), lasting: unknown},
	{name: "stall before", meet: exchange.stall, lasting: unknown},
	{name: "stall after", meet: after(exchange.stall), lasting: unknown},
	{name: "500 before", meet: failure(500, "InternalServerError"), lasting: unknown},
	{name: "500 after", meet: after(failure(500, "InternalServerError")), lasting: unknown},
	{name: "throttling before", meet: failure(400, "ThrottlingException"), lasting: refused},
	{name: "throttling after", meet: after(failure(400, "ThrottlingException")), lie: true},
	{name: "conflict before", meet: failure(400, "TransactionConflictException"), lasting: refused},
	{name: "conflict after", meet: after(failure(400, "TransactionConflictException")), lie: true},
	{name: "answer cut", meet: after(func(e exchange) { e.half(); e.close() }), lasting: unknown},
	{name: "answer reset", meet: after(func(e exchange) { e.half(); e.reset() }), lasting: unknown},
	{name: "answer stalled", meet: after(func(e exchange) { e.half(); e.stall() }), lasting: unknown},
	{name: "answer of a proxy after", meet: after(answer(499, "text/html", "<html>")), lasting: unknown},
}

// none is how an attempt proceeds without a fault.
var none = &fault{name: "none", meet: after(exchange.pass)}

// answeredTwice does no harm, but net/http logs the second answer.
var answeredTwice = &fault{name: "answered twice", meet: after(exchange.twice)}

// after returns a fault after DynamoDB carried the attempt out.
func after(meet func(exchange)) func(exchange) {
	return func(e exchange) {
		e.forward(e)
		meet(e)
	}
}

// named returns the fault with this name.
func named(name string) *fault {
	return faults[slices.IndexFunc(faults, func(f *fault) bool { return f.name == name })]
}

// A proxy stands between the service and DynamoDB Local. An attempt meets the fault that its header
// X-Fault names, or else the standing one.
type proxy struct {
	*httptest.Server
	standing atomic.Pointer[fault]
	stalled  chan struct{} // gets a value when an attempt stalls
	attempts atomic.Int64
}

// exchange is an attempt at the proxy.
type exchange struct {
	w        http.ResponseWriter
	r        *http.Request
	forward  func(exchange)             // sends the attempt to DynamoDB
	answered *httptest.ResponseRecorder // by DynamoDB
	stalled  chan<- struct{}
}

func newProxy(t testing.TB) *proxy {
	t.Helper()
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	backend := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(endpoint) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 100},
	}
	forward := func(e exchange) {
		// DynamoDB carries the request out even if the client goes away.
		backend.ServeHTTP(e.answered, e.r.WithContext(context.WithoutCancel(e.r.Context())))
	}
	p := &proxy{stalled: make(chan struct{}, 1)}
	p.standing.Store(none)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.attempts.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		met := p.standing.Load()
		if name := r.Header.Get("X-Fault"); name != "" {
			met = named(name)
		}
		met.meet(exchange{w: w, r: r, forward: forward, answered: httptest.NewRecorder(), stalled: p.stalled})
	}))
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	return p
}

// failure returns DynamoDB's answer to a request that failed with this code.
func failure(status int, code string) func(exchange) {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"a fault"}`, code)
	return answer(status, "application/x-amz-json-1.0", body)
}

// answer returns an answer that is not that of DynamoDB Local.
func answer(status int, contentType, body string) func(exchange) {
	return func(e exchange) {
		e.w.Header().Set("Content-Type", contentType)
		e.w.WriteHeader(status)
		_, _ = io.WriteString(e.w, body)
	}
}

func (e exchange) pass()  { e.send(e.answered.Body.Len()) }
func (e exchange) half()  { e.send(e.answered.Body.Len() / 2) }
func (e exchange) close() { e.hangUp(-1) }
func (e exchange) reset() { e.hangUp(0) }

// stall answers nothing until the client gives up.
func (e exchange) stall() {
	select {
	case e.stalled <- struct{}{}:
	default: // nobody waits for it
	}
	<-e.r.Context().Done()
}

// twice sends DynamoDB's answer, and a second one when the connection is idle.
func (e exchange) twice() {
	connection, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		return
	}
	result := e.answered.Result()
	_ = result.Write(connection)
	time.Sleep(50 * time.Millisecond)
	_, _ = io.WriteString(connection, "HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\nsecret")
	_ = connection.Close()
}

// send sends the headers of DynamoDB's answer, and as many bytes of its body.
func (e exchange) send(length int) {
	maps.Copy(e.w.Header(), e.answered.Header())
	e.w.Header().Set("Content-Length", fmt.Sprint(e.answered.Body.Len()))
	e.w.WriteHeader(e.answered.Code)
	_, _ = e.w.Write(e.answered.Body.Bytes()[:length])
	_ = http.NewResponseController(e.w).Flush()
}

// hangUp closes the connection, with a reset if linger is 0.
func (e exchange) hangUp(linger int) {
	connection, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		return
	}
	_ = connection.(*net.TCPConn).SetLinger(linger)
	_ = connection.Close()
}

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
	reaches string         // the last point that the attempt reaches; DynamoDB carries it out
	answer  func(exchange) // what the proxy does then
	lasting []int          // what createplant may answer while the fault lasts; nil: the fault always passes
}

// Points that an attempt reaches. Any other is the address of a host that the
// attempt is sent to instead.
const theProxy, dynamoDB = "", "DynamoDB"

// What createplant may answer while a fault lasts. The outcome of an attempt that
// the deadline interrupts is unknown.
var notSent, refused, unknown = []int{5002}, []int{5002, 5004}, []int{5004}

// In a lie, DynamoDB carries the attempt out and answers that it did not. It does
// not do so. One lie must do no harm; if every answer is one, no client can know.
var faults = []*fault{
	{"connection refused", "127.0.0.1:1", nil, notSent},
	{"no such host", "plantstore.invalid:80", nil, notSent},
	{"reset before", theProxy, exchange.reset, unknown},
	{"reset after", dynamoDB, exchange.reset, unknown},
	{"close before", theProxy, exchange.close, unknown},
	{"close after", dynamoDB, exchange.close, unknown},
	{"stall before", theProxy, exchange.stall, unknown},
	{"stall after", dynamoDB, exchange.stall, unknown},
	{"500 before", theProxy, failure(500, "InternalServerError"), unknown},
	{"500 after", dynamoDB, failure(500, "InternalServerError"), unknown},
	{"503 before", theProxy, failure(503, "ServiceUnavailable"), unknown},
	{"503 after", dynamoDB, failure(503, "ServiceUnavailable"), unknown},
	{"throttling before", theProxy, failure(400, "ThrottlingException"), refused},
	{"throttling after, a lie", dynamoDB, failure(400, "ThrottlingException"), nil},
	{"conflict before", theProxy, failure(400, "TransactionConflictException"), refused},
	{"conflict after, a lie", dynamoDB, failure(400, "TransactionConflictException"), nil},
	{"replication conflict before", theProxy, failure(400, "ReplicatedWriteConflictException"), refused},
	{"replication conflict after, a lie", dynamoDB, failure(400, "ReplicatedWriteConflictException"), nil},
	{"answer cut", dynamoDB, func(e exchange) { e.half(); e.close() }, unknown},
	{"answer reset", dynamoDB, func(e exchange) { e.half(); e.reset() }, unknown},
	{"answer stalled", dynamoDB, func(e exchange) { e.half(); e.stall() }, unknown},
	{"408 of a proxy after", dynamoDB, answer(408, "", ""), unknown},
	{"413 of a proxy after", dynamoDB, answer(413, "text/html", "<html>"), unknown},
	{"429 of a proxy before", theProxy, answer(429, "application/json", `{"message":"slow down"}`), unknown},
	{"499 of a proxy after", dynamoDB, answer(499, "text/html", "<html>"), unknown},
	{"answer garbled", dynamoDB, answer(200, "application/x-amz-json-1.0", "#"), unknown},
}

// none is how an attempt proceeds without a fault.
var none = &fault{"", dynamoDB, exchange.pass, nil}

// answeredTwice does no harm, but net/http logs the second answer.
var answeredTwice = &fault{"answered twice", dynamoDB, exchange.twice, nil}

// named returns the fault with this name.
func named(name string) *fault {
	return faults[slices.IndexFunc(faults, func(f *fault) bool { return f.name == name })]
}

// A proxy stands between the service and DynamoDB Local. An attempt meets the
// fault that its header X-Fault names, or else the standing one.
type proxy struct {
	*httptest.Server
	standing atomic.Pointer[fault]
	met      chan struct{} // gets a value when an attempt meets a standing fault
	attempts atomic.Int64
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
	p := &proxy{met: make(chan struct{}, 1)}
	p.standing.Store(none)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.attempts.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		f, e := p.standing.Load(), exchange{w, r, httptest.NewRecorder()}
		if name := r.Header.Get("X-Fault"); name != "" {
			f = named(name)
		}
		if f.reaches == dynamoDB {
			r.Body = io.NopCloser(bytes.NewReader(body))
			// DynamoDB carries the request out even if the client goes away.
			backend.ServeHTTP(e.answered, r.WithContext(context.WithoutCancel(r.Context())))
		}
		if f != none && len(p.met) == 0 {
			p.met <- struct{}{}
		}
		f.answer(e)
	}))
	t.Cleanup(p.Close)
	t.Cleanup(p.CloseClientConnections)
	return p
}

// exchange is an attempt at the proxy.
type exchange struct {
	w        http.ResponseWriter
	r        *http.Request
	answered *httptest.ResponseRecorder // by DynamoDB
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
func (e exchange) stall() { <-e.r.Context().Done() }
func (e exchange) close() { e.hangUp(-1) }
func (e exchange) reset() { e.hangUp(0) }

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
	if connection, _, err := http.NewResponseController(e.w).Hijack(); err == nil {
		_ = connection.(*net.TCPConn).SetLinger(linger)
		_ = connection.Close()
	}
}

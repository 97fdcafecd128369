package reliability

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"plantstore/test/dynamotest"
)

// fault is one way in which an attempt can fail: whether DynamoDB gets the
// request, and what becomes of the answer. The zero fault is none.
type fault struct {
	name string

	// applied tells that DynamoDB gets the request, and so carries it out.
	applied bool

	// lie tells that the answer claims the opposite of what was done. DynamoDB
	// does not do so; a client that believes it is not to blame.
	lie bool

	answer func(exchange)
}

// exchange is what a fault has at hand: the client, and the answer of
// DynamoDB, which is nil where it did not get the request.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	backend *http.Response
	body    []byte // of the answer
}

// faults returns every fault: eight before the request is applied, the same
// eight afterwards, and four in the middle of the answer.
func faults() []fault {
	ends := []fault{
		{name: "reset", answer: exchange.reset},
		{name: "close", answer: exchange.close},
		{name: "stall", answer: exchange.stall},
		{name: "500", answer: refusal(http.StatusInternalServerError, "InternalServerError")},
		{name: "503", answer: refusal(http.StatusServiceUnavailable, "ServiceUnavailable")},
		{name: "throttle", lie: true, answer: refusal(http.StatusBadRequest, "ThrottlingException")},
		{name: "conflict", lie: true, answer: refusal(http.StatusBadRequest, "TransactionConflictException")},
		{name: "replication conflict", lie: true, answer: refusal(http.StatusBadRequest, "ReplicatedWriteConflictException")},
	}
	var all []fault
	for _, f := range ends {
		before, after := f, f
		before.name, before.lie = f.name+" before", false
		after.name, after.applied = f.name+" after", true
		all = append(all, before, after)
	}
	return append(all,
		fault{name: "answer cut", applied: true, answer: func(c exchange) { c.half(); c.close() }},
		fault{name: "answer reset", applied: true, answer: func(c exchange) { c.half(); c.reset() }},
		fault{name: "answer stalled", applied: true, answer: func(c exchange) { c.half(); c.stall() }},
		fault{name: "answer garbled", applied: true, answer: exchange.garble},
	)
}

// newProxy starts a proxy before DynamoDB Local and returns its URL. It asks
// next about each request, by its body, which fault it is to meet.
func newProxy(t testing.TB, next func(body []byte) fault) string {
	t.Helper()
	endpoint := dynamotest.Endpoint(t)
	backend := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		meets := next(body)
		c := exchange{w: w, r: r}
		if meets.answer == nil || meets.applied {
			if c.backend, c.body, err = forward(backend, endpoint, r, body); err != nil { //nolint:bodyclose // forward has
				t.Errorf("DynamoDB Local: %v", err)
				return
			}
		}
		if meets.answer == nil {
			meets.answer = exchange.pass
		}
		meets.answer(c)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// forward sends the request to DynamoDB. It does not end with its client, so
// that a request which is applied is applied at once.
func forward(backend *http.Client, endpoint string, r *http.Request, body []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequest(r.Method, endpoint+r.URL.Path, bytes.NewReader(body)) //nolint:noctx // see above
	if err != nil {
		return nil, nil, err
	}
	request.Header = r.Header.Clone()
	request.Host = r.Host
	response, err := backend.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(response.Body)
	return response, answer, err
}

func (c exchange) header(length int) {
	for _, name := range []string{"Content-Type", "X-Amz-Crc32"} {
		c.w.Header().Set(name, c.backend.Header.Get(name))
	}
	c.w.Header().Set("Content-Length", fmt.Sprint(length))
	c.w.WriteHeader(c.backend.StatusCode)
}

func (c exchange) pass() {
	c.header(len(c.body))
	_, _ = c.w.Write(c.body)
}

// half sends the first half of the answer.
func (c exchange) half() {
	c.header(len(c.body))
	_, _ = c.w.Write(c.body[:len(c.body)/2])
	_ = http.NewResponseController(c.w).Flush()
}

// garble sends an answer of the right length that is no JSON.
func (c exchange) garble() {
	c.header(len(c.body))
	_, _ = c.w.Write(bytes.Repeat([]byte{'#'}, len(c.body)))
}

func (c exchange) stall() { <-c.r.Context().Done() }

func (c exchange) close() { c.hangUp(false) }

func (c exchange) reset() { c.hangUp(true) }

func (c exchange) hangUp(reset bool) {
	connection, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// refusal returns an answer that DynamoDB gives.
func refusal(status int, code string) func(exchange) {
	return func(c exchange) {
		c.w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		c.w.WriteHeader(status)
		_, _ = fmt.Fprintf(c.w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"a fault of the test"}`, code)
	}
}

// faultNamed returns the fault with this name.
func faultNamed(t testing.TB, name string) fault {
	t.Helper()
	all := faults()
	i := slices.IndexFunc(all, func(f fault) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		t.Fatalf("there is no fault %q", name)
	}
	return all[i]
}

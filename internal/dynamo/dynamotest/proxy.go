package dynamotest

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
)

// Fault is one way in which an attempt can fail: whether DynamoDB gets the
// request, and what becomes of the answer. The zero Fault is none.
type Fault struct {
	Name string

	// Applied tells that DynamoDB gets the request, and so carries it out.
	Applied bool

	// Lie tells that the answer claims the opposite of what was done. DynamoDB
	// does not do so; a client that believes it is not to blame.
	Lie bool

	answer func(conversation)
}

// conversation is what a Fault has at hand: the client, and the answer of
// DynamoDB, which is nil where it did not get the request.
type conversation struct {
	w       http.ResponseWriter
	r       *http.Request
	backend *http.Response
	body    []byte // of the answer
}

// Faults returns every fault: eight before the request is applied, the same
// eight afterwards, and four in the middle of the answer.
func Faults() []Fault {
	ends := []Fault{
		{Name: "reset", answer: conversation.reset},
		{Name: "close", answer: conversation.close},
		{Name: "stall", answer: conversation.stall},
		{Name: "500", answer: refusal(http.StatusInternalServerError, "InternalServerError")},
		{Name: "503", answer: refusal(http.StatusServiceUnavailable, "ServiceUnavailable")},
		{Name: "throttle", Lie: true, answer: refusal(http.StatusBadRequest, "ThrottlingException")},
		{Name: "conflict", Lie: true, answer: refusal(http.StatusBadRequest, "TransactionConflictException")},
		{Name: "replication conflict", Lie: true, answer: refusal(http.StatusBadRequest, "ReplicatedWriteConflictException")},
	}
	var faults []Fault
	for _, f := range ends {
		before, after := f, f
		before.Name, before.Lie = f.Name+" before", false
		after.Name, after.Applied = f.Name+" after", true
		faults = append(faults, before, after)
	}
	return append(faults,
		Fault{Name: "answer cut", Applied: true, answer: func(c conversation) { c.half(); c.close() }},
		Fault{Name: "answer reset", Applied: true, answer: func(c conversation) { c.half(); c.reset() }},
		Fault{Name: "answer stalled", Applied: true, answer: func(c conversation) { c.half(); c.stall() }},
		Fault{Name: "answer garbled", Applied: true, answer: conversation.garble},
	)
}

// NewProxy starts a proxy before DynamoDB Local and returns its URL. It asks
// next about each request, by its body, which fault it is to meet.
func NewProxy(t testing.TB, next func(body []byte) Fault) string {
	t.Helper()
	endpoint := Endpoint(t)
	backend := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		fault := next(body)
		c := conversation{w: w, r: r}
		if fault.answer == nil || fault.Applied {
			if c.backend, c.body, err = forward(backend, endpoint, r, body); err != nil { //nolint:bodyclose // forward has
				t.Errorf("DynamoDB Local: %v", err)
				return
			}
		}
		if fault.answer == nil {
			fault.answer = conversation.pass
		}
		fault.answer(c)
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

func (c conversation) header(length int) {
	for _, name := range []string{"Content-Type", "X-Amz-Crc32"} {
		c.w.Header().Set(name, c.backend.Header.Get(name))
	}
	c.w.Header().Set("Content-Length", fmt.Sprint(length))
	c.w.WriteHeader(c.backend.StatusCode)
}

func (c conversation) pass() {
	c.header(len(c.body))
	_, _ = c.w.Write(c.body)
}

// half sends the first half of the answer.
func (c conversation) half() {
	c.header(len(c.body))
	_, _ = c.w.Write(c.body[:len(c.body)/2])
	_ = http.NewResponseController(c.w).Flush()
}

// garble sends an answer of the right length that is no JSON.
func (c conversation) garble() {
	c.header(len(c.body))
	_, _ = c.w.Write(bytes.Repeat([]byte{'#'}, len(c.body)))
}

func (c conversation) stall() { <-c.r.Context().Done() }

func (c conversation) close() { c.hangUp(false) }

func (c conversation) reset() { c.hangUp(true) }

func (c conversation) hangUp(reset bool) {
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
func refusal(status int, code string) func(conversation) {
	return func(c conversation) {
		c.w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		c.w.WriteHeader(status)
		_, _ = fmt.Fprintf(c.w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"a fault of the test"}`, code)
	}
}

// FaultNamed returns the fault with this name.
func FaultNamed(t testing.TB, name string) Fault {
	t.Helper()
	faults := Faults()
	i := slices.IndexFunc(faults, func(f Fault) bool { return strings.EqualFold(f.Name, name) })
	if i < 0 {
		t.Fatalf("there is no fault %q", name)
	}
	return faults[i]
}

package dynamo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

var oak = plant.Write{
	Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "oak"}},
	Key:   plant.NewWriteKey("gardener", "k"),
	By:    "gardener",
	At:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
}

// attempt is what DynamoDB does with one attempt. See the functions below.
type attempt func(http.ResponseWriter, *http.Request)

// The put is repeated until its outcome is known.
func TestCreateByAttempts(t *testing.T) {
	ours, changed := taken(oak.Key, "oak"), taken(oak.Key, "elm")
	others := taken(plant.NewWriteKey("florist", "k"), "oak")
	denied := refused("AccessDeniedException")
	tests := []struct {
		name     string
		attempts []attempt
		want     error
	}{
		{"created", []attempt{created}, nil},
		{"500", []attempt{failed, created}, nil},
		{"500, several times", []attempt{failed, failed, failed, failed, created}, nil},
		{"a server error that the SDK does not know", []attempt{answer(501, amazonJSON, `{"__type":"Unknown"}`), created}, nil},
		{"503 from something in between", []attempt{answer(503, "text/html", "<html>"), created}, nil},
		{"throttling", []attempt{refused("ThrottlingException"), created}, nil},
		{"throughput exceeded", []attempt{refused("ProvisionedThroughputExceededException"), created}, nil},
		{"too many requests", []attempt{refused("RequestLimitExceeded"), created}, nil},
		{"a transaction in flight", []attempt{refused("TransactionConflictException"), created}, nil},
		{"a write in flight in another region", []attempt{refused("ReplicatedWriteConflictException"), created}, nil},
		{"a refusal that cannot be read", []attempt{answer(400, "text/html", "<html>"), created}, nil},
		{"a server error without a body", []attempt{answer(500, "", ""), created}, nil},
		{"a refusal that is cut off", []attempt{cutOff(400), created}, nil},

		{"an id that exists", []attempt{others}, plant.ErrExists},
		{"this very request, repeated by the client", []attempt{ours}, nil},
		{"its key with another plant", []attempt{changed}, plant.ErrKeyReused},
		{"an answer that cannot be read, to a write that landed", []attempt{answer(200, "text/html", "<html>"), ours}, nil},
		{"another protocol for an answer, to a write that landed", []attempt{switched, ours}, nil},
		{"an answer that is cut off, to a write that landed", []attempt{cutOff(200), ours}, nil},
		{"an empty 200 that is not DynamoDB's", []attempt{answer(200, "", ""), ours}, nil},
		{"an empty 204", []attempt{answer(204, "", ""), ours}, nil},
		{"the empty object with 202", []attempt{answer(202, amazonJSON, "{}"), ours}, nil},
		{"the empty object with 206", []attempt{answer(206, amazonJSON, "{}"), ours}, nil},
		{"the object of a captive portal", []attempt{answer(200, "application/json", `{"login":"http://portal"}`), ours}, nil},
		{"the empty object and garbage", []attempt{damaged(200, "{}", "x"), ours}, nil},
		{"a redirect", []attempt{answer(302, "text/html", "<html>"), ours}, nil},
		{"a success with a wrong checksum", []attempt{damaged(200, "{}", "{ "), ours}, nil},
		{"another's plant with a wrong checksum", []attempt{damaged(400, takenBody(oak.Key, "oak"), takenBody(oak.Key, "elm")), ours}, nil},
		{"408 of a proxy, to a write that landed", []attempt{answer(408, "", ""), ours}, nil},
		{"413 of a proxy, to a write that landed", []attempt{answer(413, "text/html", "<html>"), ours}, nil},
		{"429 of a proxy, to a write that landed", []attempt{answer(429, "application/json", `{"message":"slow down"}`), ours}, nil},
		{"499 of a proxy, to a write that landed", []attempt{answer(499, "text/html", "<html>"), ours}, nil},
		{"a refusal by another service's error", []attempt{answer(400, "application/json", `{"__type":"Refused"}`), ours}, nil},
		{"the key with the same plant, written at no time", []attempt{answer(400, amazonJSON, strings.Replace(takenBody(oak.Key, "oak"), "2026-03-01", "March", 1))}, nil},
		{"no answer to a write that landed", []attempt{hungUp, ours}, nil},
		{"500 to a write that landed", []attempt{failed, ours}, nil},
		{"no answer, and another's plant", []attempt{hungUp, others}, plant.ErrExists},
		{"no answer, and the key with another plant", []attempt{hungUp, changed}, plant.ErrKeyReused},

		{"an id that exists, without its item", []attempt{refused("ConditionalCheckFailedException")}, errOther},
		{"a table that is missing", []attempt{refused("ResourceNotFoundException")}, errOther},
		{"throttling, and a table that is missing", []attempt{refused("ThrottlingException"), refused("ResourceNotFoundException")}, errOther},
		{"access denied", []attempt{denied}, errOther},
		{"a request that is not valid", []attempt{refused("ValidationException")}, errOther},
		{"throttling, and access denied", []attempt{refused("ThrottlingException"), denied}, errOther},
		{"500, and access denied", []attempt{failed, denied}, plant.ErrOutcomeUnknown},
		{"500, and throttling, and access denied", []attempt{failed, refused("ThrottlingException"), denied}, plant.ErrOutcomeUnknown},
		{"no answer, and a table that is missing", []attempt{hungUp, refused("ResourceNotFoundException")}, plant.ErrOutcomeUnknown},
		{"an answer that cannot be read, and access denied", []attempt{cutOff(200), denied}, plant.ErrOutcomeUnknown},
	}
	for _, test := range tests {
		// The deadline is for a Create that does not end by itself.
		sent, got := create(t, 5*time.Second, test.attempts...)
		if !is(got, test.want) || len(sent) != len(test.attempts) {
			t.Errorf("%s: Create = %v after %d attempts, want %v after %d", test.name, got, len(sent), test.want, len(test.attempts))
		}
		checkRepeated(t, test.name, sent)
	}
}

// A put whose outcome does not become known ends with the deadline.
func TestCreateByDeadline(t *testing.T) {
	tests := []struct {
		name     string
		attempts []attempt // the last repeats
		want     error
		cause    string // in the error's text, for the log
	}{
		{"500, always", []attempt{failed}, plant.ErrOutcomeUnknown, "InternalServerError"},
		{"no answer, always", []attempt{hungUp}, plant.ErrOutcomeUnknown, "EOF"},
		{"a proxy's answers, always", []attempt{answer(429, "text/html", "<html>")}, plant.ErrOutcomeUnknown, "not DynamoDB's"},
		{"answers that cannot be read", []attempt{cutOff(200)}, plant.ErrOutcomeUnknown, "unexpected EOF"},
		{"an attempt that stalls", []attempt{stalls}, plant.ErrOutcomeUnknown, "deadline"},
		{"throttling, and an attempt that stalls", []attempt{refused("ThrottlingException"), stalls}, plant.ErrOutcomeUnknown, "Throttling"},
		{"500, and throttling always", []attempt{failed, refused("ThrottlingException")}, plant.ErrOutcomeUnknown, "Throttling"},
		{"no answer, and then nothing listens", []attempt{last(hungUp)}, plant.ErrOutcomeUnknown, "refused"},
		{"throttling, and then nothing listens", []attempt{last(refused("ThrottlingException"))}, plant.ErrUnavailable, "refused"},
		{"nothing listens", nil, plant.ErrUnavailable, "refused"},
	}
	for _, test := range tests {
		sent, got := create(t, 300*time.Millisecond, test.attempts...)
		if !is(got, test.want) {
			t.Errorf("%s: Create = %v after %d attempts, want %v", test.name, got, len(sent), test.want)
		}
		if !strings.Contains(fmt.Sprint(got), test.cause) {
			t.Errorf("%s: Create = %v, want the cause %q in it", test.name, got, test.cause)
		}
		checkRepeated(t, test.name, sent)
	}
}

// What the attempts of a put, none of which succeeded, say together. (Through
// Create, the deadline may fall into an attempt, which then decides.)
func TestOutcome(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	noSuchHost := &smithyhttp.RequestSendError{Err: &net.DNSError{IsNotFound: true}}
	answered := func(status int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: errOther}
	}
	type attempt struct {
		sent bool
		err  error
	}
	tests := []struct {
		name     string
		attempts []attempt
		want     error
	}{
		{"no attempt", nil, plant.ErrUnavailable},
		{"no such host", []attempt{{false, noSuchHost}}, plant.ErrUnavailable},
		{"no connection, always", []attempt{{false, errOther}, {false, errOther}}, plant.ErrUnavailable},
		{"refused, always", []attempt{{true, answered(400)}, {true, answered(400)}}, plant.ErrUnavailable},
		{"refused, and no connection", []attempt{{true, answered(400)}, {false, errOther}}, plant.ErrUnavailable},
		{"500, and refused", []attempt{{true, answered(500)}, {true, answered(400)}}, plant.ErrOutcomeUnknown},
		{"no answer, and no connection", []attempt{{true, errOther}, {false, errOther}}, plant.ErrOutcomeUnknown},
		{"an answer that cannot be read", []attempt{{true, answered(200)}}, plant.ErrOutcomeUnknown},
	}
	for _, test := range tests {
		r := &attempts{RetryerV2: newRetryer()}
		for _, a := range test.attempts {
			r.sent = a.sent
			r.IsErrorRetryable(a.err)
		}
		if got := r.outcome(ended, "put", errOther, plant.ErrOutcomeUnknown, plant.ErrUnavailable); !is(got, test.want) {
			t.Errorf("%s: outcome = %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCreateWithoutTimeLeft(t *testing.T) {
	if sent, err := create(t, 0, created); !is(err, plant.ErrUnavailable) || len(sent) > 0 {
		t.Errorf("Create = %v after %d attempts, want %v after none", err, len(sent), plant.ErrUnavailable)
	}
}

// errOther stands for an error that is none of the domain's.
var errOther = errors.New("another error")

func is(got, want error) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	matches := 0
	for _, err := range []error{plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, plant.ErrOutcomeUnknown} {
		if errors.Is(got, err) {
			matches++
		}
	}
	if errors.Is(want, errOther) {
		return matches == 0
	}
	return matches == 1 && errors.Is(got, want)
}

// create creates the oak in a DynamoDB that does what attempts say, the last
// for ever, and that does not listen where there are none. It returns the
// bodies of the requests and the error. Create must return soon after the
// deadline: a Lambda function has 500 ms left then.
func create(t *testing.T, timeout time.Duration, attempts ...attempt) (sent []string, err error) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		n := min(len(sent), len(attempts)-1)
		sent = append(sent, string(body))
		mu.Unlock()
		attempts[n](w, r)
	}))
	defer server.Close()
	if len(attempts) == 0 {
		server.Close()
	}
	store := &PlantStore{Client: newClient(t, server.URL), Table: "plants"}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	start := time.Now()
	err = store.Create(ctx, oak)
	if elapsed, limit := time.Since(start), timeout+500*time.Millisecond; elapsed > limit {
		t.Errorf("Create took %v, want at most %v", elapsed, limit)
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(sent), err
}

// newClient returns a client of the DynamoDB at endpoint.
func newClient(t *testing.T, endpoint string) *dynamodb.Client {
	t.Helper()
	return clientOf(t, "us-east-1", endpoint)
}

// checkRepeated holds the attempts to be one and the same conditional put.
func checkRepeated(t *testing.T, name string, sent []string) {
	t.Helper()
	for i, body := range sent {
		if body != sent[0] || !strings.Contains(body, `"attribute_not_exists(id)"`) || !strings.Contains(body, oak.Key.String()) {
			t.Errorf("%s: attempt %d = %s, want the first, conditional put: %s", name, i+1, body, sent[0])
		}
	}
}

// answer is an answer of any kind. Those of DynamoDB's content type have their
// checksum.
func answer(status int, contentType, body string) attempt {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType == amazonJSON {
			w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(body))))
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const amazonJSON = "application/x-amz-json-1.0"

var (
	created = answer(200, amazonJSON, "{}")
	failed  = answer(500, amazonJSON, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"m"}`)
)

// refused is DynamoDB's answer to a put that it did not carry out.
func refused(errorType string) attempt {
	return answer(400, amazonJSON, `{"__type":"com.amazonaws.dynamodb.v20120810#`+errorType+`","message":"m"}`)
}

// damaged is an answer of DynamoDB whose body became another on its way.
func damaged(status int, sent, received string) attempt {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(sent))))
		w.Header().Set("Content-Type", amazonJSON)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, received)
	}
}

// taken is the answer to a put whose id exists.
func taken(key plant.WriteKey, name string) attempt {
	return answer(400, amazonJSON, takenBody(key, name))
}

func takenBody(key plant.WriteKey, name string) string {
	return fmt.Sprintf(`{
		"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
		"message": "The conditional request failed",
		"Item": {
			"id": {"N": "1"}, "name": {"S": %q}, "write_key": {"S": %q},
			"created_at": {"S": "2026-03-01T11:00:00Z"}, "created_by": {"S": "gardener"}
		}
	}`, name, key)
}

// cutOff is the start of an answer, after which the connection is closed.
func cutOff(status int) attempt {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", amazonJSON)
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// switched answers that the connection now speaks another protocol, and leaves it
// open.
func switched(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	}
}

// hungUp closes the connection after the request.
func hungUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// stalls never answers.
func stalls(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// last answers as a does, and no other attempt is taken any more.
func last(a attempt) attempt {
	return func(w http.ResponseWriter, r *http.Request) {
		server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
		noWait, cancel := context.WithCancel(r.Context())
		cancel()
		_ = server.Shutdown(noWait)
		a(w, r)
	}
}

func TestDelay(t *testing.T) {
	for attempt, bound := range map[int]time.Duration{1: firstDelay, 2: 2 * firstDelay, 3: 4 * firstDelay, 99: maxDelay} {
		longest := time.Duration(0)
		for range 1000 {
			got, err := delay(attempt, nil)
			if err != nil || got < 0 || got > bound {
				t.Fatalf("delay(%d) = %v, %v, want at most %v", attempt, got, err, bound)
			}
			longest = max(longest, got)
		}
		if longest < bound*3/4 {
			t.Errorf("delay(%d) = %v at most in 1000 calls, want up to %v", attempt, longest, bound)
		}
	}
}

// In a long outage a client uses up its retry quota. From then on each operation
// makes one attempt and ends before its deadline.
func TestQuota(t *testing.T) {
	tests := []struct {
		name    string
		attempt attempt
		want    error
	}{
		{"500", failed, plant.ErrOutcomeUnknown},
		{"throttling", refused("ThrottlingException"), plant.ErrUnavailable},
	}
	for _, test := range tests {
		var sent atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent.Add(1)
			test.attempt(w, r)
		}))
		store := &PlantStore{Client: newClient(t, server.URL), Table: "plants"}
		var outage sync.WaitGroup
		for range 60 {
			outage.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_ = store.Create(ctx, oak)
			})
		}
		outage.Wait()
		before := sent.Load()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if err := store.Create(ctx, oak); !is(err, test.want) || sent.Load() != before+1 {
			t.Errorf("%s: Create after an outage = %v after %d attempts, want %v after 1", test.name, err, sent.Load()-before, test.want)
		}
		cancel()
		server.Close()
	}
}

// A token is found by its own item alone, read consistently, which DynamoDB Local
// does in any case.
func TestFindByAttempts(t *testing.T) {
	const item = `{"Item":{"digest":{"S":"d"},"id":{"S":"i"},"subject":{"S":"s"},` +
		`"created_at":{"S":"2026-03-01T12:00:00Z"},"expires_at":{"N":"1800000000"}}}`
	valid := answer(200, amazonJSON, item)
	tests := []struct {
		name     string
		attempts []attempt
		want     error
	}{
		{"an item", []attempt{valid}, nil},
		{"no item", []attempt{created}, token.ErrNotFound},
		{"500, and an item", []attempt{failed, valid}, nil},
		{"an item of another digest", []attempt{answer(200, amazonJSON, strings.Replace(item, `"d"`, `"e"`, 1))}, errOther},
		{"a damaged item, and none", []attempt{damaged(200, item, strings.Replace(item, "180", "980", 1)), created}, token.ErrNotFound},
		{"a captive portal, always", []attempt{answer(200, "application/json", `{"login":""}`)}, token.ErrUnavailable},
		{"access denied", []attempt{refused("AccessDeniedException")}, errOther},
	}
	for _, test := range tests {
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct{ ConsistentRead bool }
			if err := json.NewDecoder(r.Body).Decode(&request); err != nil || !request.ConsistentRead {
				t.Errorf("%s: ConsistentRead = %t, %v, want true", test.name, request.ConsistentRead, err)
			}
			n++
			test.attempts[min(n, len(test.attempts))-1](w, r)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		got, err := (&TokenStore{Client: newClient(t, server.URL), Table: "tokens"}).Find(ctx, "d")
		known := errors.Is(err, token.ErrNotFound) || errors.Is(err, token.ErrUnavailable)
		if errors.Is(test.want, errOther) && (known || err == nil) || !errors.Is(test.want, errOther) && !errors.Is(err, test.want) ||
			(err == nil) != (got.Subject == "s") {
			t.Errorf("%s: Find = %+v, %v, want %v", test.name, got, err, test.want)
		}
		cancel()
		server.Close()
	}
}

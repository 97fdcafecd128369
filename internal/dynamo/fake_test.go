package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// fake is a RoundTripper that acts as a DynamoDB with one table. It applies a condition only if a request has one. A
// page of a scan has one item. A read that is not consistent finds nothing.
type fake struct {
	outcome func() string // of the next attempt: "answered", or a key of outcomes, perhaps after "applied, but "

	mu       sync.Mutex
	attempts []time.Time           // when each began
	items    map[string]attributes // by id
}

// attributes has the types and values of an item's attributes.
type attributes map[string]map[string]any

// newFake returns a fake in which the attempts have these outcomes, one after the other. The last one repeats.
func newFake(attempts string) *fake {
	f := &fake{items: map[string]attributes{}}
	list := strings.Split(attempts, "; ")
	f.outcome = func() string { return list[min(len(f.attempts), len(list))-1] }
	return f
}

// newClient returns a function's client that reaches DynamoDB by transport.
func newClient(transport http.RoundTripper) *dynamodb.Client {
	httpClient := newHTTPClient(false)
	httpClient.Transport = transport
	return NewClient(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
		BaseEndpoint: aws.String("http://fake"),
		HTTPClient:   httpClient,
	})
}

// RoundTrip implements [http.RoundTripper].
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) { return f.attempt(r)(r) }

func (f *fake) attempt(r *http.Request) roundTrip {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts = append(f.attempts, time.Now())
	outcome, applied := strings.CutPrefix(f.outcome(), "applied, but ")
	if !applied && outcome != "answered" {
		return outcomes[outcome]
	}
	status, result := f.apply(r)
	if applied {
		return outcomes[outcome]
	}
	return answer(status, result)
}

// apply does what a request asks for. It names an error as other servers of the API do, without a namespace.
func (f *fake) apply(r *http.Request) (status int, result string) {
	var in struct {
		Item, Key, ExclusiveStartKey, ExpressionAttributeValues                    attributes
		ConditionExpression, ReturnValuesOnConditionCheckFailure, UpdateExpression string
		ConsistentRead                                                             bool
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // the SDK wrote it
	id := idOf(in.Item) + idOf(in.Key)      // a request has one of the two
	item, exists := f.items[id]
	condition := in.ConditionExpression
	if condition == "attribute_not_exists(id)" && exists || condition == "attribute_exists(id)" && !exists {
		if in.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			return 400, `{"__type": "ConditionalCheckFailedException", "Item": ` + encode(item) + `}`
		}
		return 400, `{"__type": "ConditionalCheckFailedException"}`
	}
	switch _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); {
	case operation == "PutItem":
		f.items[id] = in.Item
	case operation == "UpdateItem":
		name, value, _ := strings.Cut(strings.TrimPrefix(in.UpdateExpression, "SET "), " = ")
		updated := attributes{name: in.ExpressionAttributeValues[value]}
		maps.Copy(updated, item)
		f.items[id] = updated
	case operation == "GetItem" && in.ConsistentRead && exists:
		return 200, `{"Item": ` + encode(item) + `}`
	case operation == "Scan" && in.ConsistentRead:
		ids := slices.Sorted(maps.Keys(f.items))
		next := slices.Index(ids, idOf(in.ExclusiveStartKey)) + 1
		page := f.items[ids[next]]
		last := attributes{}
		if next+1 < len(ids) {
			last["id"] = page["id"]
		}
		return 200, `{"Items": [` + encode(page) + `], "LastEvaluatedKey": ` + encode(last) + `}`
	}
	return 200, "{}"
}

func idOf(item attributes) string {
	for _, value := range item["id"] {
		return fmt.Sprint(value)
	}
	return ""
}

func encode(item attributes) string {
	text, _ := json.Marshal(item) // of maps and texts
	return string(text)
}

// store stores items, which follow one another.
func (f *fake) store(text string) {
	for decoder := json.NewDecoder(strings.NewReader(text)); decoder.More(); {
		var item attributes
		_ = decoder.Decode(&item) // a test wrote it
		f.items[idOf(item)] = item
	}
}

type roundTrip = func(*http.Request) (*http.Response, error)

// outcomes are what may happen to an attempt, besides an answer.
var outcomes = map[string]roundTrip{
	"no server is found":                fail(&net.DNSError{Err: "no such host", IsNotFound: true}),
	"the connection breaks":             fail(io.ErrUnexpectedEOF),
	"no answer comes":                   waitAnd(time.Hour, fail(io.ErrUnexpectedEOF)),
	"the answer is cut":                 respond(200, iotest.ErrReader(io.ErrUnexpectedEOF)),
	"the answer stalls":                 stallInAnswer,
	"the answer is no JSON":             answer(200, "#"),
	"DynamoDB fails":                    refuse(500, "InternalServerError"),
	"it is throttled":                   refuse(400, "ThrottlingException"),
	"it is throttled slowly":            waitAnd(500*time.Millisecond, refuse(400, "ThrottlingException")),
	"it is over a limit of the account": refuse(400, "RequestLimitExceeded"),
	"it conflicts with a transaction":   refuse(400, "TransactionConflictException"),
	"it conflicts with another region":  refuse(400, "ReplicatedWriteConflictException"),
	"the item is not returned":          refuse(400, "ConditionalCheckFailedException"),
	"access is denied":                  refuse(400, "AccessDeniedException"),
	"the table is gone":                 refuse(400, "ResourceNotFoundException"),
	"another server denies access":      answer(403, `{"__type": "AccessDeniedException"}`),
	"a refusal is cut":                  respond(400, iotest.ErrReader(io.ErrUnexpectedEOF)),
	"a proxy waits too long":            answer(408, ""),
	"a proxy limits the rate":           answer(429, `{"code": "too_many"}`),
	"a proxy refuses in HTML":           answer(400, "<html>"),
	"a proxy redirects":                 answer(302, ""),
}

func fail(err error) roundTrip {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func respond(status int, body io.Reader) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		header := http.Header{"Location": {"http://proxy"}} // of a redirect
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body)}, nil
	}
}

func answer(status int, body string) roundTrip {
	return func(r *http.Request) (*http.Response, error) { return respond(status, strings.NewReader(body))(r) }
}

func refuse(status int, name string) roundTrip {
	return answer(status, `{"__type": "com.amazonaws.dynamodb.v20120810#`+name+`"}`)
}

func waitAnd(delay time.Duration, next roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(delay):
			return next(r)
		}
	}
}

func stallInAnswer(r *http.Request) (*http.Response, error) {
	return respond(200, stalled{r.Context()})(r)
}

// stalled is a body of which nothing comes.
type stalled struct{ context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

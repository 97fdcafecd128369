package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// fake is an [http.RoundTripper] that acts as DynamoDB with one table. It checks a condition only if a request has one.
// Each page of a scan has one item. An eventually consistent read finds nothing.
type fake struct {
	outcomes []outcome // of successive attempts; the last one repeats

	mu       sync.Mutex
	attempts []time.Time         // when each began
	items    map[string]jsonItem // by id
}

// jsonItem has the types and values of an item's attributes, by name.
type jsonItem map[string]map[string]any

// outcome is what happens to an attempt.
type outcome struct {
	applied bool      // whether the table gets the request
	fault   roundTrip // what the client gets instead of the table's answer, or nil
}

type roundTrip = func(*http.Request) (*http.Response, error)

// answered is the outcome of an attempt without a fault.
var answered = outcome{applied: true}

// newFake returns a fake whose attempts have these outcomes. By default, every attempt is answered.
func newFake(outcomes ...outcome) *fake {
	if len(outcomes) == 0 {
		outcomes = []outcome{answered}
	}
	return &fake{outcomes: outcomes, items: map[string]jsonItem{}}
}

// newClient returns a function's client that reaches DynamoDB through transport.
func newClient(transport http.RoundTripper) *Client {
	httpClient := newHTTPClient()
	httpClient.Transport = transport
	return NewClient(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
		BaseEndpoint: aws.String("http://fake"),
		HTTPClient:   httpClient,
	})
}

// newPlants returns a store whose table is the fake.
func newPlants(f *fake) *Plants { return &Plants{Client: newClient(f), Table: "plants"} }

// RoundTrip implements [http.RoundTripper].
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) { return f.attempt(r)(r) }

func (f *fake) attempt(r *http.Request) roundTrip {
	f.mu.Lock()
	defer f.mu.Unlock()
	outcome := f.outcomes[min(len(f.attempts), len(f.outcomes)-1)]
	f.attempts = append(f.attempts, time.Now())
	if !outcome.applied {
		return outcome.fault
	}
	answer := f.apply(r)
	if outcome.fault != nil {
		return outcome.fault
	}
	return answer
}

// apply does what a request asks for. It names an error without a namespace, as other servers of the API do.
func (f *fake) apply(r *http.Request) roundTrip {
	var in struct {
		Item, Key, ExclusiveStartKey, ExpressionAttributeValues                    jsonItem
		ConditionExpression, ReturnValuesOnConditionCheckFailure, UpdateExpression string
		ConsistentRead                                                             bool
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // the SDK wrote it
	id := idOf(in.Item) + idOf(in.Key)      // a request has one of the two
	item, exists := f.items[id]
	condition := in.ConditionExpression
	if condition == "attribute_not_exists(id)" && exists || condition == "attribute_exists(id)" && !exists {
		if in.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			return answer(400, `{"__type": "ConditionalCheckFailedException", "Item": `+encode(item)+`}`)
		}
		return answer(400, `{"__type": "ConditionalCheckFailedException"}`)
	}
	switch _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); {
	case operation == "PutItem":
		f.items[id] = in.Item
	case operation == "UpdateItem":
		name, value, _ := strings.Cut(strings.TrimPrefix(in.UpdateExpression, "SET "), " = ")
		updated := jsonItem{name: in.ExpressionAttributeValues[value]}
		maps.Copy(updated, item)
		f.items[id] = updated
	case operation == "GetItem" && in.ConsistentRead && exists:
		return answer(200, `{"Item": `+encode(item)+`}`)
	case operation == "Scan" && in.ConsistentRead:
		ids := slices.Sorted(maps.Keys(f.items))
		next := slices.Index(ids, idOf(in.ExclusiveStartKey)) + 1
		page := f.items[ids[next]]
		last := jsonItem{}
		if next+1 < len(ids) {
			last["id"] = page["id"]
		}
		return answer(200, `{"Items": [`+encode(page)+`], "LastEvaluatedKey": `+encode(last)+`}`)
	}
	return answer(200, "{}")
}

func idOf(item jsonItem) string {
	for _, value := range item["id"] {
		return fmt.Sprint(value)
	}
	return ""
}

func encode(item jsonItem) string {
	text, _ := json.Marshal(item) // maps and strings cannot fail
	return string(text)
}

// store stores the items in text, a sequence of JSON objects.
func (f *fake) store(text string) {
	for decoder := json.NewDecoder(strings.NewReader(text)); decoder.More(); {
		var item jsonItem
		_ = decoder.Decode(&item) // a test wrote it
		f.items[idOf(item)] = item
	}
}

// item returns the item with this id as JSON, or "".
func (f *fake) item(id string) string {
	if f.items[id] == nil {
		return ""
	}
	return encode(f.items[id])
}

// The faults that several tests need.
var (
	brokenConnection = fail(io.ErrUnexpectedEOF)
	noAnswer         = waitAnd(time.Hour, brokenConnection)
	internalError    = refuse(500, "InternalServerError")
	throttling       = refuse(400, "ThrottlingException")
	accessDenied     = refuse(400, "AccessDeniedException")
	expiredSignature = answer(400, `{"__type": "com.amazon.coral.service#InvalidSignatureException",
		"message": "Signature expired: 20260301T120000Z is now earlier than 20260301T120001Z"}`)
)

func fail(err error) roundTrip {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

func respond(status int, body io.Reader) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		header := http.Header{"Location": {"http://proxy"}} // for a redirect
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

// late answers once the request's deadline has passed, just before the client gives up.
func late(answer roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return answer(r)
	}
}

func stallInAnswer(r *http.Request) (*http.Response, error) {
	return respond(200, stalled{r.Context()})(r)
}

// stalled is a body that never arrives.
type stalled struct{ context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

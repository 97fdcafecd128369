// Package dynamotest gives tests a DynamoDB: a [Fake], which can fail as a network does, and DynamoDB Local.
package dynamotest

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
)

// NewTable creates a table in the DynamoDB Local that `make test` starts. Without one, it skips the test, or under CI=true,
// fails it.
func NewTable(t *testing.T, key string, kind types.ScalarAttributeType) (client *dynamodb.Client, name string) {
	t.Helper()
	endpoint := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	if endpoint == "" && os.Getenv("CI") == "true" {
		t.Fatal("there is no DynamoDB Local")
	}
	if endpoint == "" {
		t.Skip("there is no DynamoDB Local")
	}
	client, name = dynamo.NewLocal(endpoint), "test-"+rand.Text()
	if err := dynamo.CreateTable(t.Context(), client, name, key, kind); err != nil {
		t.Fatal(err)
	}
	return client, name
}

// Fake acts as DynamoDB, in process as an [http.RoundTripper], and for other processes as an [http.Handler]. It knows what
// this service uses, and refuses the rest. An inconsistent read finds nothing, and a page of a scan has one item.
type Fake struct {
	Fault Fault             // what happens to the first requests, as a RoundTripper
	Times int               // to how many
	Items map[string]string // in DynamoDB's JSON, by table/key

	mu       sync.Mutex
	Requests []string // the operations, in order
}

// Fault is what a client sees instead of an answer. It may apply the request first.
type Fault func(r *http.Request, apply func() *http.Response) (*http.Response, error)

// Faults returns the ways in which a request can fail, and yet succeed when the client repeats it.
func Faults() map[string]Fault {
	faults := map[string]Fault{}
	for name, fail := range map[string]func(*http.Request) (*http.Response, error){
		"reset":      func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET },
		"hang":       func(r *http.Request) (*http.Response, error) { return nil, wait(r, time.Hour) },
		"error 500":  refuse(http.StatusInternalServerError, "InternalServerError"),
		"throttling": refuse(http.StatusBadRequest, "ThrottlingException"),
		"half an answer": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(half{r})}, nil
		},
	} {
		faults[name] = func(r *http.Request, _ func() *http.Response) (*http.Response, error) { return fail(r) }
		faults[name+", applied"] = func(r *http.Request, apply func() *http.Response) (*http.Response, error) {
			apply()
			return fail(r)
		}
	}
	return faults
}

// Slow takes a second, and works.
func Slow(r *http.Request, apply func() *http.Response) (*http.Response, error) {
	if err := wait(r, time.Second); err != nil {
		return nil, err
	}
	return apply(), nil
}

// Denied refuses a request for good.
func Denied(r *http.Request, _ func() *http.Response) (*http.Response, error) {
	return refuse(http.StatusBadRequest, "AccessDeniedException")(r)
}

func wait(r *http.Request, duration time.Duration) error {
	select {
	case <-r.Context().Done():
		return r.Context().Err()
	case <-time.After(duration):
		return nil
	}
}

// half is a body whose end never comes.
type half struct{ *http.Request }

func (h half) Read([]byte) (int, error) { return 0, wait(h.Request, time.Hour) }

func refuse(status int, name string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		fail(w, status, name)
		return w.Result(), nil
	}
}

func fail(w http.ResponseWriter, status int, name string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#`+name+`"}`)
}

// Client returns a function's client that reaches the fake.
func (f *Fake) Client() *dynamodb.Client {
	provider := credentials.NewStaticCredentialsProvider("id", "secret", "")
	return dynamo.New(aws.Config{Region: "us-east-1", Credentials: provider}, f)
}

// RoundTrip implements [http.RoundTripper].
func (f *Fake) RoundTrip(r *http.Request) (*http.Response, error) {
	apply := func() *http.Response {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Result()
	}
	if f.Times > 0 {
		f.Times--
		return f.Fault(r, apply)
	}
	return apply(), nil
}

type attributes map[string]map[string]string

// key returns the value of the key, if it has the right name and type.
func (a attributes) key() string { return a["id"]["N"] + a["digest"]["S"] }

// ServeHTTP implements [http.Handler].
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	f.Requests = append(f.Requests, operation)
	var in struct {
		TableName, ConditionExpression, ReturnValues, ReturnValuesOnConditionCheckFailure string
		Item, Key, ExclusiveStartKey                                                      attributes
		ConsistentRead                                                                    bool
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // without an operation, there is no body
	key := in.Item.key() + in.Key.key()
	address := in.TableName + "/" + key
	stored, exists := f.Items[address]
	switch {
	case operation == "PutItem" && key != "" && in.ConditionExpression == "attribute_not_exists(id)" && exists:
		item := ""
		if in.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			item = `,"Item":` + stored
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"`+item+`}`)
		return
	case operation == "PutItem" && key != "":
		if f.Items == nil {
			f.Items = map[string]string{}
		}
		item, _ := json.Marshal(in.Item) // strings always marshal
		f.Items[address] = string(item)
	case operation == "GetItem" && key != "" && in.ConsistentRead && exists:
		_, _ = io.WriteString(w, `{"Item":`+stored+`}`)
		return
	case operation == "DeleteItem" && exists && in.ReturnValues == "ALL_OLD":
		delete(f.Items, address)
		_, _ = io.WriteString(w, `{"Attributes":`+stored+`}`)
		return
	case operation == "Scan":
		_, _ = io.WriteString(w, f.page(in.TableName, in.ExclusiveStartKey.key()))
		return
	case operation == "": // more than net/http reads by itself when a body is closed
		_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
		return
	case key == "":
		fail(w, http.StatusBadRequest, "ValidationException")
		return
	}
	_, _ = io.WriteString(w, "{}") // if the client has gone, it does not matter
}

// page returns the first item after a key.
func (f *Fake) page(table, after string) string {
	for _, address := range slices.Sorted(maps.Keys(f.Items)) {
		if digest := strings.TrimPrefix(address, table+"/"); digest > after {
			return `{"Items":[` + f.Items[address] + `],"LastEvaluatedKey":{"digest":{"S":"` + digest + `"}}}`
		}
	}
	return `{"Items":[]}`
}

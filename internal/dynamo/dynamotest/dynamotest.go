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

// Fault is what a client sees instead of an answer. It may apply the request.
type Fault func(r *http.Request, apply func() *http.Response) (*http.Response, error)

// Faults are the ways in which a request can fail, of which the client must repeat each.
var Faults = map[string]Fault{
	"connection reset": func(*http.Request, func() *http.Response) (*http.Response, error) {
		return nil, syscall.ECONNRESET
	},
	"connection reset, applied": func(_ *http.Request, apply func() *http.Response) (*http.Response, error) {
		apply()
		return nil, syscall.ECONNRESET
	},
	"no answer": func(r *http.Request, _ func() *http.Response) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	},
	"no answer, applied": func(r *http.Request, apply func() *http.Response) (*http.Response, error) {
		apply()
		<-r.Context().Done()
		return nil, r.Context().Err()
	},
	"half an answer, applied": func(r *http.Request, apply func() *http.Response) (*http.Response, error) {
		response := apply()
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), stalled{r}))
		return response, nil
	},
	"internal error": func(*http.Request, func() *http.Response) (*http.Response, error) {
		return failure(500, "InternalServerError").Result(), nil
	},
	"internal error, applied": func(_ *http.Request, apply func() *http.Response) (*http.Response, error) {
		apply()
		return failure(500, "InternalServerError").Result(), nil
	},
	"throttling": func(*http.Request, func() *http.Response) (*http.Response, error) {
		return failure(400, "ThrottlingException").Result(), nil
	},
}

// Slow is a DynamoDB that takes its time, but works.
func Slow(r *http.Request, apply func() *http.Response) (*http.Response, error) {
	select {
	case <-time.After(time.Second):
		return apply(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// Refusal is a DynamoDB that refuses the request for good.
func Refusal(*http.Request, func() *http.Response) (*http.Response, error) {
	return failure(400, "AccessDeniedException").Result(), nil
}

// stalled is the part of a body that never comes.
type stalled struct{ *http.Request }

func (s stalled) Read([]byte) (int, error) {
	<-s.Context().Done()
	return 0, s.Context().Err()
}

func failure(status int, name string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	fail(w, status, name)
	return w
}

func fail(w http.ResponseWriter, status int, name string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#`+name+`","message":"no"}`)
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
	if r.Method == http.MethodGet {
		return
	}
	var in struct {
		TableName, ConditionExpression, ReturnValues, ReturnValuesOnConditionCheckFailure string
		Item, Key, ExclusiveStartKey                                                      attributes
		ConsistentRead                                                                    bool
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		fail(w, 400, "SerializationException")
		return
	}
	address := in.TableName + "/" + in.Item.key() + in.Key.key()
	stored, exists := f.Items[address]
	if operation != "Scan" && strings.HasSuffix(address, "/") || !slices.Contains([]string{"", "attribute_not_exists(id)"}, in.ConditionExpression) {
		fail(w, 400, "ValidationException")
		return
	}
	answer := "{}"
	switch operation {
	case "PutItem":
		if exists && in.ConditionExpression != "" {
			w.WriteHeader(400)
			answer = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}`
			if in.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
				answer = strings.Replace(answer, "}", `,"Item":`+stored+`}`, 1)
			}
			break
		}
		text, _ := json.Marshal(in.Item) // strings always marshal
		f.put(address, string(text))
	case "GetItem":
		if exists && in.ConsistentRead {
			answer = `{"Item":` + stored + `}`
		}
	case "DeleteItem":
		if exists && in.ReturnValues == "ALL_OLD" {
			answer = `{"Attributes":` + stored + `}`
		}
		delete(f.Items, address)
	case "Scan":
		answer = f.page(in.TableName, in.ExclusiveStartKey.key())
	default:
		fail(w, 400, "UnknownOperationException")
		return
	}
	_, _ = io.WriteString(w, answer)
}

func (f *Fake) put(address, text string) {
	if f.Items == nil {
		f.Items = map[string]string{}
	}
	f.Items[address] = text
}

func (f *Fake) page(table, after string) string {
	addresses := slices.Sorted(maps.Keys(f.Items))
	i, found := slices.BinarySearch(addresses, table+"/"+after)
	if found {
		i++
	}
	if i == len(addresses) {
		return `{"Items":[]}`
	}
	digest := strings.TrimPrefix(addresses[i], table+"/")
	return `{"Items":[` + f.Items[addresses[i]] + `],"LastEvaluatedKey":{"digest":{"S":"` + digest + `"}}}`
}

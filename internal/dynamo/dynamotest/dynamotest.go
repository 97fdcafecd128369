// Package dynamotest gives tests a DynamoDB: a [Fake], which can fail, and DynamoDB Local.
package dynamotest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

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
// this service uses. An inconsistent read finds nothing, and a page of a scan has one item.
type Fake struct {
	Fault Fault // what happens to the next requests, as a RoundTripper
	Times int   // to how many

	mu       sync.Mutex        // guards the rest
	Items    map[string]string // in DynamoDB's JSON, by table/key
	Requests []string          // the operations, in order
}

// Fault is what a client sees instead of an answer. It may apply the request first.
type Fault func(r *http.Request, apply func() *http.Response) (*http.Response, error)

// Refuse answers every request with an error of DynamoDB's.
func Refuse(status int, name string) Fault {
	return func(*http.Request, func() *http.Response) (*http.Response, error) {
		w := httptest.NewRecorder()
		refuse(w, status, name, "")
		return w.Result(), nil
	}
}

// refuse sends a wrong checksum along, as DynamoDB Local does.
func refuse(w http.ResponseWriter, status int, name, members string) {
	w.Header().Set("X-Amz-Crc32", "0")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s"%s}`, name, members)
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
	case operation == "": // more than net/http reads by itself when a body is closed
		fmt.Fprint(w, strings.Repeat(" ", 1<<20))
	case operation == "Scan" && in.ConsistentRead:
		fmt.Fprint(w, f.page(in.TableName, in.ExclusiveStartKey.key()))
	case key == "":
		refuse(w, http.StatusBadRequest, "ValidationException", "")
	case operation == "PutItem" && in.ConditionExpression == "attribute_not_exists(id)" && exists:
		item := ""
		if in.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
			item = `,"Item":` + stored
		}
		refuse(w, http.StatusBadRequest, "ConditionalCheckFailedException", item)
	case operation == "PutItem":
		if f.Items == nil {
			f.Items = map[string]string{}
		}
		item, _ := json.Marshal(in.Item) // strings always marshal
		f.Items[address] = string(item)
		fmt.Fprint(w, "{}")
	case operation == "GetItem" && in.ConsistentRead && exists:
		fmt.Fprintf(w, `{"Item":%s}`, stored)
	case operation == "DeleteItem" && in.ReturnValues == "ALL_OLD" && exists:
		delete(f.Items, address)
		fmt.Fprintf(w, `{"Attributes":%s}`, stored)
	default:
		fmt.Fprint(w, "{}")
	}
}

// page returns the first item after a key.
func (f *Fake) page(table, after string) string {
	for _, address := range slices.Sorted(maps.Keys(f.Items)) {
		if digest, isHere := strings.CutPrefix(address, table+"/"); isHere && digest > after {
			return fmt.Sprintf(`{"Items":[%s],"LastEvaluatedKey":{"digest":{"S":%q}}}`, f.Items[address], digest)
		}
	}
	return `{"Items":[]}`
}

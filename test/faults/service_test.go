package faults

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
)

// database is DynamoDB Local, direct and through a proxy, with two tables.
type database struct {
	direct         *dynamodb.Client
	url            string // the proxy's
	plants, tokens string
	ids            atomic.Int64
}

func newDatabase(t *testing.T) *database {
	client, plants, tokens := dynamotest.Tables(t)
	return &database{direct: client, url: newProxy(t).URL, plants: plants, tokens: tokens}
}

// newID returns an id that no plant has.
func (d *database) newID() int64 { return d.ids.Add(1) }

// issue returns a token of the gardener that the table has.
func (d *database) issue(t *testing.T) string {
	t.Helper()
	secret, issued, err := token.Issue(rand.Reader, "gardener", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	store := &dynamo.Tokens{Client: d.direct, Table: d.tokens}
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return secret
}

// unknownToken returns a token that no table has.
func unknownToken(t *testing.T) string {
	t.Helper()
	secret, _, err := token.Issue(rand.Reader, "gardener", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// meeting returns a client of a new process, whose first attempts meet f.
func (d *database) meeting(f *fault, attempts int) *dynamodb.Client {
	o := dynamotest.FunctionClient(d.url).Options()
	client := o.HTTPClient
	made := 0
	o.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		made++
		switch {
		case made > attempts: // no fault
		case f.host != "":
			r.URL.Host = f.host
		default:
			r.Header.Set("X-Fault", f.name)
		}
		return client.Do(r)
	})
	return dynamodb.New(o)
}

// stored is a plant in the table; the zero value means that there is none.
type stored struct{ name, writeKey string }

// find reads the plant with this id from the table.
func (d *database) find(id int64) (stored, error) {
	out, err := d.direct.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName:      &d.plants,
		Key:            map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(id)}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil || out.Item == nil {
		return stored{}, err
	}
	name, _ := out.Item["name"].(*types.AttributeValueMemberS)
	key, _ := out.Item["write_key"].(*types.AttributeValueMemberS)
	return stored{name: name.Value, writeKey: key.Value}, nil
}

// creation is a request of the gardener to create a plant. An empty key means that
// it has no idempotency key.
type creation struct {
	id        int64
	name, key string
}

// stored is what the table holds after c.
func (c creation) stored() stored {
	return stored{name: c.name, writeKey: plant.NewWriteKey("gardener", c.key)}
}

func (c creation) body() string { return fmt.Sprintf(`{"id":%d,"name":%q}`, c.id, c.name) }

// newCreation returns a request for a plant that is not there.
func (d *database) newCreation(hasKey bool) creation {
	id := d.newID()
	c := creation{id: id, name: fmt.Sprintf("plant %d", id)}
	if hasKey {
		c.key = fmt.Sprintf("key-%d", id)
	}
	return c
}

// event is the event of c. In presented is the hash of no Authorization header.
func (c creation) event() []byte {
	header := ""
	if c.key != "" {
		header = fmt.Sprintf(`"idempotency-key":%q`, c.key)
	}
	return fmt.Appendf(nil, `{"routeKey":"POST /plants","headers":{%s},"body":%q,"requestContext":{"authorizer":{"lambda":{
		"verdict":"allow","subject":"gardener","token_id":"t1",
		"presented":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}}`, header, c.body())
}

// send lets createplant answer c, with fresh for a key if c has none.
func (d *database) send(client *dynamodb.Client, c creation, fresh string) (outcome, error) {
	var log bytes.Buffer
	service := &api.Service{
		Plants: &dynamo.Plants{Client: client, Table: d.plants},
		Log:    slog.New(slog.NewJSONHandler(&log, nil)),
		Now:    time.Now,
		NewKey: func() string { return fresh },
	}
	response, err := service.Invoke(context.Background(), c.event())
	if err != nil {
		return outcome{}, err
	}
	got, err := decode(response)
	if err != nil {
		return outcome{}, err
	}
	if got.code == 5001 {
		return got, fmt.Errorf("answer = 5001, logged as %s", &log)
	}
	return got, nil
}

// outcome is what a client learns.
type outcome struct {
	code int    // of the error, 0 for a plant
	name string // of the plant
	key  string // to repeat with
}

// decode reads the response of a function.
func decode(response []byte) (outcome, error) {
	var answer struct {
		StatusCode int
		Headers    map[string]string
		Body       string
	}
	if err := json.Unmarshal(response, &answer); err != nil {
		return outcome{}, fmt.Errorf("answer = %s: %w", response, err)
	}
	var body struct {
		Error int
		Name  string
	}
	if err := json.Unmarshal([]byte(answer.Body), &body); err != nil {
		return outcome{}, fmt.Errorf("answer = %s: %w", response, err)
	}
	isPlant := answer.StatusCode == http.StatusOK && body.Name != ""
	isError := answer.StatusCode == http.StatusBadRequest && body.Error != 0
	if isPlant == isError {
		return outcome{}, fmt.Errorf("answer = %s, want a Plant or an Error", response)
	}
	return outcome{code: body.Error, name: body.Name, key: answer.Headers["idempotency-key"]}, nil
}

// crowd calls do with each number below n, as many at once.
func crowd(n, atOnce int, do func(i int)) {
	var group sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range n {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	group.Wait()
}

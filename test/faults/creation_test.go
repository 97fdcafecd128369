package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
)

// database is DynamoDB Local with two tables, also as a server that proxies pass attempts on to.
type database struct {
	http.Handler
	client         *dynamodb.Client
	plants, tokens string
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	client, plants, tokens := dynamotest.Tables(t)
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	handler := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(endpoint) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 100},
	}
	return &database{Handler: handler, client: client, plants: plants, tokens: tokens}
}

// stored is a plant in the table; the zero value means that there is none.
type stored struct{ name, writeKey string }

// find reads the plant with this id from the table.
func (d *database) find(t *testing.T, id int64) stored {
	t.Helper()
	out, err := d.client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName:      &d.plants,
		Key:            map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(id)}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Error(err)
		return stored{}
	}
	name, _ := out.Item["name"].(*types.AttributeValueMemberS)
	key, _ := out.Item["write_key"].(*types.AttributeValueMemberS)
	if name == nil || key == nil {
		return stored{}
	}
	return stored{name: name.Value, writeKey: key.Value}
}

// creation is a request of alice to create a plant.
type creation struct {
	id        int64
	name, key string
}

// stored is what the table holds after c.
func (c creation) stored() stored {
	return stored{name: c.name, writeKey: plant.NewWriteKey("alice", c.key)}
}

// body is the NewPlant of c, and answer the Plant.
func (c creation) body() string   { return fmt.Sprintf(`{"id":%d,"name":%q}`, c.id, c.name) }
func (c creation) answer() string { return fmt.Sprintf(`{"name":%q}`, c.name) }

// event is the event of c with this idempotency key, or none. In presented is the hash of no Authorization header.
func (c creation) event(key string) []byte {
	headers := ""
	if key != "" {
		headers = fmt.Sprintf(`"idempotency-key":%q`, key)
	}
	return fmt.Appendf(nil, `{"routeKey":"POST /plants","headers":{%s},"body":%q,"requestContext":{"authorizer":{"lambda":{
		"verdict":"allow","subject":"alice","token_id":"t1",
		"presented":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}}`, headers, c.body())
}

// outcome is what a client learns.
type outcome struct {
	code int    // of the error, 0 for the plant
	key  string // to repeat with
}

// read reads createplant's response to c.
func (c creation) read(response []byte) (outcome, error) {
	var got struct {
		StatusCode int
		Headers    map[string]string
		Body       string
	}
	if err := json.Unmarshal(response, &got); err != nil {
		return outcome{}, fmt.Errorf("answer = %s: %w", response, err)
	}
	if got.StatusCode == http.StatusOK && got.Body == c.answer() {
		return outcome{}, nil
	}
	var refusal struct{ Error int }
	if err := json.Unmarshal([]byte(got.Body), &refusal); err != nil {
		return outcome{}, fmt.Errorf("answer = %s: %w", response, err)
	}
	if got.StatusCode != http.StatusBadRequest || refusal.Error == 0 {
		return outcome{}, fmt.Errorf("answer = %s, want the Plant of %+v or an Error", response, c)
	}
	return outcome{code: refusal.Error, key: got.Headers["idempotency-key"]}, nil
}

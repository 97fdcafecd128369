package plants

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/dynamo/dynamotest"
)

// These bodies are too odd for the conversations in test/contract. Each gets a Plant, twice, or an Error that names what is
// wrong.
func TestCreate(t *testing.T) {
	const fern = `{"id":1,"name":"Fern"}`
	for _, test := range []struct {
		name, contentType, body string
		code                    int32  // or 0 for a Plant
		want                    string // the Plant, or words of the message
	}{
		{name: "escapes", body: `{"id":2,"n\u0061me":"\ud83c\udf31\u0000\/"}`, want: `{"name":"🌱\u0000/"}`},
		{name: "not UTF-8", body: "{\"id\":1,\"name\":\"\xff\"}", code: 400, want: "byte 16"},
		{name: "not UTF-8 in another member", body: "{\"id\":1,\"name\":\"Fern\",\"x\":\"\xff\"}", code: 400, want: "byte 27"},
		{name: "byte order mark", body: "\uFEFF" + fern, code: 400, want: "byte 0"},
		{name: "half a surrogate pair", body: `{"id":1,"name":"\ud83c"}`, code: 400, want: "byte"},
		{name: "a name twice", body: `{"id":1,"name":"Fern","name":"Fern"}`, code: 400, want: "twice"},
		{name: "array with an error", body: `[1,]`, code: 400, want: ""},
		{name: "id is true", body: `{"id":true,"name":"Fern"}`, code: 400, want: "id"},
		{name: "id with a fraction of zeros", body: `{"id":1.00,"name":"Fern"}`, want: `{"name":"Fern"}`},
		{name: "id with an exponent", body: `{"id":10e-1,"name":"Fern"}`, want: `{"name":"Fern"}`},
		{name: "id beyond float64", body: `{"id":1e999999999,"name":"Fern"}`, code: 400, want: "id"},
		{name: "longest id that is 0", body: `{"id":-0.0E-99999999999,"name":"Fern"}`, want: `{"name":"Fern"}`},
		{name: "longest id with an exponent", body: `{"id":900719925474099e1,"name":"Fern"}`, want: `{"name":"Fern"}`},
		{name: "id that float64 would change", body: `{"id":900719925474099.3e1,"name":"Fern"}`, code: 400, want: "id"},
		{name: "id that float64 would round", body: `{"id":4503599627370496.1,"name":"Fern"}`, code: 400, want: "id"},
		{name: "id beyond 2^53 with an exponent", body: `{"id":9007199254741e3,"name":"Fern"}`, code: 400, want: "id"},

		{name: "parameters", contentType: "Application/JSON ; charset=utf-8; x", body: fern, want: `{"name":"Fern"}`},
		{name: "another type before a wrong body", contentType: "text/plain", body: "{", code: 415, want: "application/json"},
		{name: "another JSON", contentType: "application/json-seq", body: fern, code: 415, want: "application/json"},
		{name: "a letter that folds to s", contentType: "application/jſon", body: fern, code: 415, want: "application/json"},
		{name: "parameters alone", contentType: ";charset=utf-8", body: fern, code: 415, want: "application/json"},
		{name: "two types", contentType: "application/json,application/json", body: fern, code: 415, want: "application/json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			create := Create(&Memory{})
			request := api.Request{Subject: "alice", ContentType: test.contentType, Body: []byte(test.body)}
			answer, err := create(t.Context(), request)
			again, _ := create(t.Context(), request)
			if !reflect.DeepEqual(answer, again) {
				t.Errorf("the answers are %v and %v", answer, again)
			}
			refusal, _ := errors.AsType[api.Error](err)
			got, _ := json.Marshal(answer)
			if err != nil {
				got = []byte(refusal.Message)
			}
			if refusal.Code != test.code || test.code == 0 && string(got) != test.want || !strings.Contains(string(got), test.want) {
				t.Errorf("the answer is %d %s, want %d %s", refusal.Code, got, test.code, test.want)
			}
			if err != nil && strings.Contains(string(got), "Fern") {
				t.Errorf("the message repeats what was sent: %s", got)
			}
		})
	}
}

// All stores keep the same promise: what runs on a developer's machine is what runs in AWS.
func TestStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) { testStore(t, &Memory{}) })
	t.Run("fake", func(t *testing.T) { testStore(t, Table{Client: new(dynamotest.Fake).Client(), Name: "plants"}) })
	t.Run("DynamoDB Local", func(t *testing.T) {
		client, name := dynamotest.NewTable(t, "id", types.ScalarAttributeTypeN)
		testStore(t, Table{Client: client, Name: name})
	})
}

func testStore(t *testing.T, store Store) {
	check := func(plant, want NewPlant) {
		t.Helper()
		if holder, err := store.LoadOrStore(t.Context(), plant, "alice"); err != nil || !reflect.DeepEqual(holder, want) {
			t.Errorf("LoadOrStore(%.80v) = %.80v, %v, want %.80v", plant, holder, err, want)
		}
	}
	for _, first := range []NewPlant{
		{ID: 1, Plant: Plant{Name: "Fern", Tag: new("indoor")}},
		{ID: 2, Plant: Plant{Name: "Fern"}},
		{ID: 3, Plant: Plant{Tag: new("")}},
		{ID: math.MinInt64, Plant: Plant{Name: "\x00 é 🌱"}},
		{ID: math.MaxInt64, Plant: Plant{Name: strings.Repeat("x", maxBody)}},
	} {
		check(first, first)
		check(first, first)
		check(NewPlant{ID: first.ID, Plant: Plant{Name: "Moss", Tag: first.Tag}}, first)
		check(NewPlant{ID: first.ID, Plant: Plant{Name: first.Name, Tag: new("other")}}, first)
	}

	var group sync.WaitGroup
	var mu sync.Mutex
	holders := map[string]bool{}
	for n := range 20 {
		group.Go(func() {
			holder, err := store.LoadOrStore(t.Context(), NewPlant{ID: 4, Plant: Plant{Name: fmt.Sprint(n)}}, "alice")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			holders[holder.Name] = true
		})
	}
	group.Wait()
	if len(holders) != 1 {
		t.Errorf("one id has the plants %v", holders)
	}
}

// A plant is the same if the attributes of exactly these names are. If DynamoDB does not say which plant has the id, nobody
// knows whether the new one is stored.
func TestConflict(t *testing.T) {
	for name, test := range map[string]struct {
		item  string
		plant Plant
		fails bool
	}{
		"same":                    {item: `{"id":{"N":"1"},"name":{"S":"Fern"},"tag":{"S":"indoor"}}`, plant: Plant{Name: "Fern", Tag: new("indoor")}},
		"a tag in another case":   {item: `{"id":{"N":"1"},"name":{"S":"Fern"},"TAG":{"S":"indoor"}}`, plant: Plant{Name: "Fern"}},
		"two tags":                {item: `{"TAG":{"S":"x"},"id":{"N":"1"},"name":{"S":"Fern"},"tag":{"S":"indoor"},"Tag":{"S":"y"}}`, plant: Plant{Name: "Fern", Tag: new("indoor")}},
		"a name in another case":  {item: `{"id":{"N":"1"},"Name":{"S":"Fern"}}`, plant: Plant{Name: "Fern"}, fails: true},
		"a name that is a number": {item: `{"id":{"N":"1"},"name":{"N":"7"}}`, plant: Plant{Name: "7"}, fails: true},
		"a tag that is a number":  {item: `{"id":{"N":"1"},"name":{"S":"Fern"},"tag":{"N":"7"}}`, plant: Plant{Name: "Fern"}, fails: true},
		"no item":                 {item: `{}`, plant: Plant{}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			fake := dynamotest.Fake{Items: map[string]string{"plants/1": test.item}}
			plant := NewPlant{ID: 1, Plant: test.plant}
			holder, err := Table{Client: fake.Client(), Name: "plants"}.LoadOrStore(t.Context(), plant, "alice")
			if (err != nil) != test.fails || err == nil && !reflect.DeepEqual(holder, plant) {
				t.Errorf("LoadOrStore = %v, %v", holder, err)
			}
			if errors.Is(err, dynamo.ErrUnavailable) {
				t.Errorf("the error %v promises that repeating helps", err)
			}
		})
	}
}

// openapi.yaml describes every member that the code knows, with its type, and whether it is required.
func TestOpenAPI(t *testing.T) {
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Type string }
				Required   []string
			}
		}
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"string": "string", "int32": "integer", "int64": "integer", "float64": "number", "bool": "boolean"}
	for _, value := range []any{Plant{}, NewPlant{}, api.Error{}} {
		schema := reflect.TypeOf(value)
		for _, field := range reflect.VisibleFields(schema) {
			name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("dynamodbav")), ",")
			want := types[strings.TrimPrefix(field.Type.String(), "*")]
			isRequired := field.Type.Kind() != reflect.Pointer
			described := document.Components.Schemas[schema.Name()]
			got := described.Properties[name].Type
			if name != "-" && !field.Anonymous && (got != want || slices.Contains(described.Required, name) != isRequired) {
				t.Errorf("%s of %s is described as %q, want %q, required: %t", name, schema.Name(), got, want, isRequired)
			}
		}
	}
}

// No member gets lost on the way into the table and back: a field that is added to Plant alone fails here.
func TestMembers(t *testing.T) {
	var plant Plant
	for i := range reflect.TypeFor[Plant]().NumField() {
		switch field := reflect.ValueOf(&plant).Elem().Field(i).Addr().Interface().(type) {
		case *string:
			*field = "text"
		case **string:
			*field = new("text")
		default:
			t.Fatalf("this test needs a value for a field of type %T", field)
		}
	}
	members, _ := json.Marshal(plant) // strings always marshal
	request := api.Request{Subject: "alice", Body: []byte(`{"id":1,` + string(members[1:]))}
	create := Create(Table{Client: new(dynamotest.Fake).Client(), Name: "plants"})
	for range 2 {
		if answer, err := create(t.Context(), request); err != nil || !reflect.DeepEqual(answer, plant) {
			t.Errorf("%s gets %v, %v", request.Body, answer, err)
		}
	}
}

// Other programs read these attributes. Who stored a plant, and when, makes no other plant of it.
func TestItem(t *testing.T) {
	var fake dynamotest.Fake
	table := Table{Client: fake.Client(), Name: "plants"}
	plant := NewPlant{ID: 1, Plant: Plant{Name: "Fern", Tag: new("indoor")}}
	before := time.Now().UTC().Truncate(time.Second)
	for _, subject := range []string{"alice", "bob"} {
		if holder, err := table.LoadOrStore(t.Context(), plant, subject); err != nil || !reflect.DeepEqual(holder, plant) {
			t.Errorf("LoadOrStore = %v, %v", holder, err)
		}
	}
	var item map[string]map[string]string
	if err := json.Unmarshal([]byte(fake.Items["plants/1"]), &item); err != nil {
		t.Fatal(err)
	}
	created, err := time.Parse("2006-01-02T15:04:05Z", item["created_at"]["S"])
	if err != nil || created.Before(before) || created.After(time.Now()) {
		t.Errorf("created_at is %v, %v", item["created_at"], err)
	}
	delete(item, "created_at")
	want := map[string]map[string]string{"id": {"N": "1"}, "name": {"S": "Fern"}, "tag": {"S": "indoor"}, "created_by": {"S": "alice"}}
	if !reflect.DeepEqual(item, want) {
		t.Errorf("the item is %v, want %v", item, want)
	}
}

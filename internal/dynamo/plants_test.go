package dynamo

import (
	"encoding/json/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
)

// attributes are the attributes of an item, each by its type and value.
type attributes map[string]map[string]string

// put returns the item that the fake received.
func put(t *testing.T, fake *fake) attributes {
	t.Helper()
	var sent struct{ Item attributes }
	body := fake.received()[0].body
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatalf("the item of %s: %v; does an attribute lack omitempty?", body, err)
	}
	return sent.Item
}

// The attributes of a plant's item are fixed: other programs read them.
func TestPlantItem(t *testing.T) {
	key := plant.NewWriteKey("alice", "k")
	tests := []struct {
		name  string
		plant plant.NewPlant
		want  attributes
	}{
		{
			name:  "a plant without a tag",
			plant: plant.NewPlant{ID: 8, Plant: plant.Plant{Name: "ficus"}},
			want: attributes{
				"id": {"N": "8"}, "name": {"S": "ficus"},
				"created_at": {"S": "2026-03-01T12:00:00Z"}, "created_by": {"S": "alice"}, "write_key": {"S": key},
			},
		},
		{
			name:  "a plant with an empty tag",
			plant: plant.NewPlant{ID: -7, Plant: plant.Plant{Name: "fern", Tag: new("")}},
			want: attributes{
				"id": {"N": "-7"}, "name": {"S": "fern"}, "tag": {"S": ""},
				"created_at": {"S": "2026-03-01T12:00:00Z"}, "created_by": {"S": "alice"}, "write_key": {"S": key},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, succeed)
				at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
				write := plant.Write{NewPlant: test.plant, Key: key, Subject: "alice", Time: at}
				if err := (&Plants{Client: fake.client(), Table: "plants"}).Create(t.Context(), write); err != nil {
					t.Fatal(err)
				}
				if got := put(t, fake); !reflect.DeepEqual(got, test.want) {
					t.Errorf("Create puts %v, want %v", got, test.want)
				}
			})
		})
	}
	for attribute := range reflect.TypeFor[plantAttributes]().Fields() {
		hasValue := false
		for _, test := range tests {
			hasValue = hasValue || !reflect.ValueOf(test.plant.Plant).FieldByName(attribute.Name).IsZero()
		}
		if !hasValue {
			t.Errorf("no row has a %s: add one, or nothing notices a misspelt attribute", attribute.Name)
		}
	}
}

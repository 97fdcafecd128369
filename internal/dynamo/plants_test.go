package dynamo

import (
	"encoding/json/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
)

// The attributes of a plant's item are fixed: other programs read them. A plant without a tag has no
// attribute for it. TestCreateByAttempts reads one with a tag. The condition of the put is that there is no item with
// this id, not even one of another program that has nothing else.
func TestPlantItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t, succeed)
		write := plant.Write{
			NewPlant: plant.NewPlant{ID: -7, Plant: plant.Plant{Name: "fern"}},
			WriteKey: "k",
			Subject:  "alice",
			Time:     time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600)),
		}
		if err := fake.plants().Create(t.Context(), write); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Item                map[string]map[string]string // each attribute by its type
			ConditionExpression string
		}
		if err := json.Unmarshal([]byte(fake.requests[0].body), &sent); err != nil {
			t.Fatal(err)
		}
		want := map[string]map[string]string{
			"id": {"N": "-7"}, "name": {"S": "fern"}, "created_at": {"S": "2026-03-01T12:00:00Z"},
			"created_by": {"S": "alice"}, "write_key": {"S": "k"},
		}
		if !reflect.DeepEqual(sent.Item, want) {
			t.Errorf("Create puts %v, want %v", sent.Item, want)
		}
		if want := "attribute_not_exists(" + idAttribute + ")"; sent.ConditionExpression != want {
			t.Errorf("Create puts under the condition %q, want %q", sent.ConditionExpression, want)
		}
	})
}

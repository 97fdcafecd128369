// Package storetest is a suite of tests for a plant.Store or a token.Store. The tests of each store call
// its functions, so the store in memory and the one in DynamoDB are interchangeable.
package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// plants returns plants that a store may confuse, lose or change, with an id each. Each call returns other pointers
// to the same values.
func plants() []plant.NewPlant {
	return []plant.NewPlant{
		{ID: math.MinInt64, Plant: plant.Plant{Name: "fern"}},
		{ID: math.MaxInt64, Plant: plant.Plant{Name: "fern", Tag: new("indoor")}},
		{ID: 0, Plant: plant.Plant{Name: strings.Repeat("n", plant.MaxSize)}},
		{ID: -1, Plant: plant.Plant{Name: "", Tag: new("fern")}},
		{ID: 1 << 53, Plant: plant.Plant{Name: "fern", Tag: new("")}},
		{ID: 1<<53 + 1, Plant: plant.Plant{Name: "fern", Tag: new(" \t\n")}}, // no float64 is this id
		{ID: 1, Plant: plant.Plant{Name: " \t\n", Tag: new("fern")}},
		{ID: 2, Plant: plant.Plant{Name: "e\u0301"}}, // an accent as a character of its own
		{ID: 3, Plant: plant.Plant{Name: "\u00e9"}},  // the same accent as a part of its letter
		{ID: 4, Plant: plant.Plant{Name: "fern", Tag: new("e\u0301")}},
		{ID: 5, Plant: plant.Plant{Name: "fern", Tag: new("\u00e9")}},
		{ID: 6, Plant: plant.Plant{Name: "a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE"}},
		{ID: 7, Plant: plant.Plant{Name: "fern", Tag: new("a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE")}},
	}
}

// TestPlants tests that an empty plant.Store stores every plant exactly and once. It finds out what the
// store holds by writing again: with the key of the first write, only the stored plant is a success. All
// plants have this key: with another id it is another request.
func TestPlants(t *testing.T, store plant.Store) {
	for i, first := range plants() {
		t.Run(text(first), func(t *testing.T) {
			again := plants()[i]
			create(t, store, first, "a", nil)
			create(t, store, again, "a", nil)
			create(t, store, again, "b", plant.ErrExists)
			for j, other := range plants() {
				if j == i {
					continue
				}
				other.ID = first.ID
				create(t, store, other, "a", plant.ErrKeyReused)
				create(t, store, other, "b", plant.ErrExists)
			}
			create(t, store, again, "a", nil) // the first plant is unchanged
		})
	}
}

// create creates a plant with a key and checks the error.
func create(t *testing.T, store plant.Store, p plant.NewPlant, key string, want error) {
	t.Helper()
	err := store.Create(t.Context(), write(p, key))
	if !errors.Is(err, want) {
		t.Fatalf("Create(%s) with key %s = %v, want %v", text(p), key, err, want)
	}
}

func write(p plant.NewPlant, key string) plant.Write {
	return plant.Write{NewPlant: p, Key: plant.NewWriteKey("alice", key), Subject: "alice"}
}

// text returns the beginning of p in JSON.
func text(p plant.NewPlant) string {
	content, _ := json.Marshal(p) // a NewPlant always has a JSON form
	return fmt.Sprintf("%.100s", content)
}

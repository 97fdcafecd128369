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
	"plantstore/test/openapitest"
)

// ids are ids that a store may confuse. No float64 is the last one.
var ids = []int64{math.MinInt64, math.MaxInt64, 0, -1, 1 << 53, 1<<53 + 1}

// texts are texts that a store may lose or change.
var texts = []string{
	"",
	" \t\n",
	"e\u0301", // an accent as a character of its own
	"\u00e9",  // the same accent as a part of its letter
	"a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE",
}

// plants returns the examples of openapi.yaml, the largest plant, and each text for each member, with an
// id each. Each call returns other pointers to the same values.
func plants() []plant.NewPlant {
	longest := strings.Repeat("n", plant.MaxSize)
	values := []string{
		openapitest.Plant(0),
		openapitest.Plant(1),
		openapitest.PlantWith(openapitest.Texts()[0], longest),
	}
	for _, member := range openapitest.Texts() {
		for _, text := range texts {
			values = append(values, openapitest.PlantOf(func(other string) string {
				if other == member {
					return text
				}
				return "fern"
			}))
		}
	}
	var all []plant.NewPlant
	for i, value := range values {
		id := int64(i)
		if i < len(ids) {
			id = ids[i]
		}
		all = append(all, NewPlant(id, value))
	}
	return all
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

// NewPlant returns a Plant, as JSON, with the n-th id.
func NewPlant(n int64, p string) plant.NewPlant {
	decoded, err := plant.Decode([]byte(openapitest.NewPlant(openapitest.ID(n), p)))
	if err != nil {
		panic(err)
	}
	return decoded
}

func write(p plant.NewPlant, key string) plant.Write {
	return plant.Write{NewPlant: p, Key: plant.NewWriteKey("alice", key), Subject: "alice"}
}

// text returns the beginning of p in JSON.
func text(p plant.NewPlant) string {
	content, _ := json.Marshal(p) // a NewPlant always has a JSON form
	return fmt.Sprintf("%.100s", content)
}

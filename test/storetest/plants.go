// Package storetest is a suite of tests for a plant.Store or a token.Store. The tests of each store call
// its functions, so the store in memory and the one in DynamoDB are interchangeable.
package storetest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/plant"
)

// example is a plant that a store may confuse with another one, lose or change.
type example struct {
	name  string
	plant plant.NewPlant
}

// examples returns plants with an id each. Each call returns other pointers to the same values.
func examples() []example {
	return []example{
		{name: "the smallest id", plant: plant.NewPlant{ID: math.MinInt64, Plant: plant.Plant{Name: "fern"}}},
		{name: "the largest id", plant: plant.NewPlant{ID: math.MaxInt64, Plant: plant.Plant{Name: "fern", Tag: new("indoor")}}},
		{name: "the longest name", plant: plant.NewPlant{ID: 0, Plant: plant.Plant{Name: strings.Repeat("n", plant.MaxSize)}}},
		{name: "an empty name", plant: plant.NewPlant{ID: -1, Plant: plant.Plant{Name: "", Tag: new("fern")}}},
		{name: "an empty tag", plant: plant.NewPlant{ID: 1 << 53, Plant: plant.Plant{Name: "fern", Tag: new("")}}},
		{name: "a tag of white space, and an id that is no float64", plant: plant.NewPlant{ID: 1<<53 + 1, Plant: plant.Plant{Name: "fern", Tag: new(" \t\n")}}},
		{name: "a name of white space", plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: " \t\n", Tag: new("fern")}}},
		{name: "a name with an accent as a character of its own", plant: plant.NewPlant{ID: 2, Plant: plant.Plant{Name: "e\u0301"}}},
		{name: "a name with an accent as a part of its letter", plant: plant.NewPlant{ID: 3, Plant: plant.Plant{Name: "\u00e9"}}},
		{name: "a tag with an accent as a character of its own", plant: plant.NewPlant{ID: 4, Plant: plant.Plant{Name: "fern", Tag: new("e\u0301")}}},
		{name: "a tag with an accent as a part of its letter", plant: plant.NewPlant{ID: 5, Plant: plant.Plant{Name: "fern", Tag: new("\u00e9")}}},
		{name: "a name of many alphabets", plant: plant.NewPlant{ID: 6, Plant: plant.Plant{Name: "a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE"}}},
		{name: "a tag of many alphabets", plant: plant.NewPlant{ID: 7, Plant: plant.Plant{Name: "fern", Tag: new("a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE")}}},
		{name: "a name that begins with another one", plant: plant.NewPlant{ID: 8, Plant: plant.Plant{Name: "ferns"}}},
		{name: "a tag that begins with another one", plant: plant.NewPlant{ID: 9, Plant: plant.Plant{Name: "fern", Tag: new("indoors")}}},
	}
}

// TestPlants tests an empty plant.Store. A store with a race fails only sometimes, so concurrent requests are tried in
// several rounds.
func TestPlants(t *testing.T, store plant.Store, rounds int) {
	testExamples(t, store)
	t.Run("of concurrent requests one succeeds", func(t *testing.T) {
		for round := range rounds {
			testConcurrent(t, store, 1000+int64(round))
		}
	})
}

// testExamples tests that the store stores every plant exactly and once. It finds out what the store holds by writing
// again: with the key of the first write, only the stored plant is a success. All plants have this key: with another
// id it is another request.
func testExamples(t *testing.T, store plant.Store) {
	for i, first := range examples() {
		t.Run(first.name, func(t *testing.T) {
			again := examples()[i]
			create(t, store, first, "a", nil)
			create(t, store, again, "a", nil)
			create(t, store, again, "b", plant.ErrExists)
			for j, other := range examples() {
				if j == i {
					continue
				}
				other.plant.ID = first.plant.ID
				create(t, store, other, "a", plant.ErrKeyReused)
				create(t, store, other, "b", plant.ErrExists)
			}
			create(t, store, again, "a", nil) // the first plant is unchanged
		})
	}
}

// testConcurrent sends four requests for one id twice each, all at once. One request succeeds, both times.
func testConcurrent(t *testing.T, store plant.Store, id int64) {
	var succeeded atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range 8 {
		group.Go(func() {
			<-begin
			write := plant.Write{NewPlant: plant.NewPlant{ID: id}, WriteKey: fmt.Sprint(i % 4)}
			switch err := store.Create(t.Context(), write); {
			case err == nil:
				succeeded.Add(1)
			case !errors.Is(err, plant.ErrExists):
				t.Errorf("Create = %v, want nil or %v", err, plant.ErrExists)
			}
		})
	}
	close(begin)
	group.Wait()
	if got := succeeded.Load(); got != 2 {
		t.Fatalf("%d of 8 writes of the id %d succeeded, want the two of one request", got, id)
	}
}

// create creates the plant of an example with a key and checks the error.
func create(t *testing.T, store plant.Store, e example, key string, want error) {
	t.Helper()
	write := plant.Write{NewPlant: e.plant, WriteKey: plant.NewWriteKey("alice", key), Subject: "alice"}
	if err := store.Create(t.Context(), write); !errors.Is(err, want) {
		t.Fatalf("Create(%s) with key %s = %v, want %v", e.name, key, err, want)
	}
}

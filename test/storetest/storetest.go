// Package storetest is a suite of tests for a plant.Store, so that the one in memory and the one in DynamoDB are
// interchangeable.
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

// examples returns plants, each of which a store may take for the next one. Each call returns other pointers.
func examples() []plant.NewPlant {
	const alphabets = "a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE"
	return []plant.NewPlant{
		{ID: math.MinInt64, Plant: plant.Plant{Name: "fern"}},
		{ID: math.MaxInt64, Plant: plant.Plant{Name: "fern", Tag: new("")}},
		{ID: 1 << 53, Plant: plant.Plant{Name: "fern", Tag: new(" \t\n")}},
		{ID: 1<<53 + 1, Plant: plant.Plant{Name: "fern", Tag: new("e\u0301")}},
		{ID: 0, Plant: plant.Plant{Name: "fern", Tag: new("\u00e9")}},
		{ID: -1, Plant: plant.Plant{Name: "ferns", Tag: new("\u00e9")}},
		{ID: 1, Plant: plant.Plant{Name: "", Tag: new("\u00e9")}},
		{ID: 2, Plant: plant.Plant{Name: "e\u0301", Tag: new(alphabets)}},
		{ID: 3, Plant: plant.Plant{Name: "\u00e9", Tag: new(alphabets)}},
		{ID: 4, Plant: plant.Plant{Name: alphabets, Tag: new(alphabets)}},
		{ID: 5, Plant: plant.Plant{Name: strings.Repeat("n", plant.MaxSize)}},
	}
}

// TestPlants tests an empty plant.Store. A store with a race fails only sometimes, so there are several rounds. What is
// stored shows in another write with the key of the first: only the stored plant is a success.
func TestPlants(t *testing.T, store plant.Store, rounds int) {
	for i, first := range examples() {
		t.Run(fmt.Sprint("a plant with the id ", first.ID), func(t *testing.T) {
			again, other := examples()[i], examples()[(i+1)%len(examples())]
			other.ID = first.ID
			create := func(p plant.NewPlant, key string) error {
				write := plant.Write{NewPlant: p, WriteKey: plant.NewWriteKey("alice", key), Subject: "alice"}
				return store.Create(t.Context(), write)
			}
			expect(t, "a request", create(first, "k"), nil)
			expect(t, "the request again", create(again, "k"), nil)
			expect(t, "the plant with another key", create(again, "l"), plant.ErrExists)
			expect(t, "another plant with the key", create(other, "k"), plant.ErrKeyReused)
			expect(t, "another plant with another key", create(other, "l"), plant.ErrExists)
			expect(t, "the request at the end", create(again, "k"), nil)
		})
	}
	t.Run("of racing requests one succeeds", func(t *testing.T) {
		for round := range rounds {
			testRace(t, store, 1000+int64(round))
		}
	})
}

// testRace sends four requests for one id twice each, all at once. One request succeeds, both times.
func testRace(t *testing.T, store plant.Store, id int64) {
	var successes atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range 8 {
		group.Go(func() {
			<-begin
			err := store.Create(t.Context(), plant.Write{NewPlant: plant.NewPlant{ID: id}, WriteKey: fmt.Sprint(i % 4)})
			if err == nil {
				successes.Add(1)
				return
			}
			expect(t, "a request", err, plant.ErrExists)
		})
	}
	close(begin)
	group.Wait()
	if got := successes.Load(); got != 2 {
		t.Fatalf("%d of 8 writes of the id %d succeeded, want the two of one request", got, id)
	}
}

func expect(t *testing.T, call string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s = %v, want %v", call, got, want)
	}
}

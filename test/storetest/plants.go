// Package storetest tests that a store keeps the promises of plant.Store or
// token.Store. Each store runs it, so the store in memory and the one in DynamoDB
// are interchangeable.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/plant"
)

// TestPlants tests a plant.Store, which is empty.
func TestPlants(t *testing.T, store plant.Store) {
	t.Run("every member of a plant is tested", testEveryMember)
	t.Run("every plant is stored exactly and once", func(t *testing.T) { testEveryPlant(t, store) })
	t.Run("the largest plant is stored", func(t *testing.T) { testLargestPlant(t, store) })
	t.Run("of concurrent requests one wins", func(t *testing.T) { TestConcurrentRequests(t, store) })
	t.Run("an ended context stores nothing", func(t *testing.T) { testEndedContext(t, store) })
}

// mixed are characters that a store may lose or change.
const mixed = "a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE"

// Two forms of é: a letter and an accent, and one character.
const twoCharacters, oneCharacter = "e\u0301", "\u00e9"

type namedPlant struct {
	name  string
	plant plant.NewPlant
}

// plants returns plants that a store may confuse, each with an id of its own. Each call returns other
// pointers to the same values.
func plants() []namedPlant {
	return []namedPlant{
		{name: "an empty name", plant: newPlant(math.MinInt64, plant.Plant{Name: ""})},
		{name: "a name of white space", plant: newPlant(math.MaxInt64, plant.Plant{Name: " \t\n"})},
		{name: "an accent as a character of its own", plant: newPlant(0, plant.Plant{Name: twoCharacters})},
		{name: "the same accent as a part of its letter", plant: newPlant(-1, plant.Plant{Name: oneCharacter})},
		{name: "a name of many kinds of characters", plant: newPlant(1<<53, plant.Plant{Name: mixed})},
		{name: "no tag, and an id that has no float64", plant: newPlant(1<<53+1, plant.Plant{Name: "fern"})},
		{name: "an empty tag", plant: newPlant(1, plant.Plant{Name: "fern", Tag: new("")})},
		{name: "a tag of white space", plant: newPlant(2, plant.Plant{Name: "fern", Tag: new(" \t\n")})},
		{name: "a tag with an accent as a character of its own", plant: newPlant(3, plant.Plant{Name: "fern", Tag: new(twoCharacters)})},
		{name: "a tag with the accent as a part of its letter", plant: newPlant(4, plant.Plant{Name: "fern", Tag: new(oneCharacter)})},
		{name: "a tag of many kinds of characters", plant: newPlant(5, plant.Plant{Name: "fern", Tag: new(mixed)})},
	}
}

// testEveryMember fails if plant.Plant has a member, such as a new one, that is the same in all plants:
// then no test would notice a store that loses it.
func testEveryMember(t *testing.T) {
	for member := range reflect.TypeFor[plant.Plant]().Fields() {
		value := func(p namedPlant) any {
			return reflect.ValueOf(p.plant.Plant).FieldByIndex(member.Index).Interface()
		}
		first := value(plants()[0])
		differs := func(p namedPlant) bool { return !reflect.DeepEqual(value(p), first) }
		if !slices.ContainsFunc(plants(), differs) {
			t.Errorf("all plants of this test have the same %s: add some with other values", member.Name)
		}
	}
}

// testEveryPlant finds out what the store holds by writing again: with the key of the first write, only
// the stored plant is a success. All plants have this key: with another id it is another request.
func testEveryPlant(t *testing.T, store plant.Store) {
	for i, first := range plants() {
		t.Run(first.name, func(t *testing.T) {
			again := plants()[i].plant
			create(t, store, first.plant, "a", nil)
			create(t, store, again, "a", nil)
			create(t, store, again, "b", plant.ErrExists)
			for _, other := range plants() {
				if other.name == first.name {
					continue
				}
				other.plant.ID = first.plant.ID
				create(t, store, other.plant, "a", plant.ErrKeyReused)
			}
			create(t, store, again, "a", nil) // the first plant is unchanged
		})
	}
}

func testLargestPlant(t *testing.T, store plant.Store) {
	largest := newPlant(100, plant.Plant{Name: strings.Repeat("n", plant.MaxSize)})
	create(t, store, largest, "a", nil)
	create(t, store, largest, "a", nil)
}

// create creates a plant with a key and checks the error.
func create(t *testing.T, store plant.Store, p plant.NewPlant, key string, want error) {
	t.Helper()
	err := store.Create(t.Context(), write(p, key))
	if !errors.Is(err, want) {
		t.Fatalf("Create(%s) with key %s = %v, want %v", text(p), key, err, want)
	}
}

// TestConcurrentRequests sends each of several requests for one id several times, all at once. Every
// attempt of the request that wins must succeed, and no other.
func TestConcurrentRequests(t *testing.T, store plant.Store) {
	const requests, attempts = 8, 4
	var errs [requests][attempts]error
	var group sync.WaitGroup
	for request := range requests {
		name := fmt.Sprint("plant ", request)
		for attempt := range attempts {
			group.Go(func() {
				errs[request][attempt] = store.Create(t.Context(), write(newPlant(200, plant.Plant{Name: name}), name))
			})
		}
	}
	group.Wait()
	var succeeded [attempts]error // all nil
	winners := 0
	for request := range requests {
		if errs[request] == succeeded {
			winners++
			continue
		}
		for attempt, err := range errs[request] {
			if !errors.Is(err, plant.ErrExists) {
				t.Errorf("request %d, attempt %d: Create = %v, want %v", request, attempt, err, plant.ErrExists)
			}
		}
	}
	if winners != 1 {
		t.Errorf("%d requests won, want 1", winners)
	}
}

func testEndedContext(t *testing.T, store plant.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := store.Create(ended, write(newPlant(300, plant.Plant{Name: "fern"}), "a"))
	if !errors.Is(err, plant.ErrUnavailable) {
		t.Errorf("Create in an ended context = %v, want %v", err, plant.ErrUnavailable)
	}
	create(t, store, newPlant(300, plant.Plant{Name: "ficus"}), "b", nil)
}

func newPlant(id int64, p plant.Plant) plant.NewPlant { return plant.NewPlant{ID: id, Plant: p} }

func write(p plant.NewPlant, key string) plant.Write {
	return plant.Write{NewPlant: p, Key: plant.NewWriteKey("alice", key), Subject: "alice"}
}

// text returns the beginning of p in JSON.
func text(p plant.NewPlant) string {
	content, _ := json.Marshal(p) // a NewPlant always has a JSON form
	return fmt.Sprintf("%.100s", content)
}

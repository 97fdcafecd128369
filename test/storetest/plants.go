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

// TestPlants tests a plant.Store. newStore returns an empty one.
func TestPlants(t *testing.T, newStore func(*testing.T) plant.Store) {
	t.Run("every plant is stored exactly and once", func(t *testing.T) { testEveryPlant(t, newStore(t)) })
	t.Run("of concurrent requests one wins", func(t *testing.T) { testConcurrentRequests(t, newStore(t)) })
	t.Run("an ended context stores nothing", func(t *testing.T) { testEndedContext(t, newStore(t)) })
}

// testEveryPlant finds out what the store holds by writing again: with the key of
// the first write, only the stored plant is a success.
func testEveryPlant(t *testing.T, store plant.Store) {
	create := func(first, p plant.NewPlant, key string, want error) {
		t.Helper()
		p.ID = first.ID
		if err := store.Create(t.Context(), write(p, key)); !errors.Is(err, want) {
			t.Fatalf("Create(%s) with key %s = %v, want %v; the first plant is %s, with key a (Create of the store must keep and compare every member)",
				text(p), key, err, want, text(first))
		}
	}
	for i, first := range plants(t) {
		all := plants(t) // a retry has the same values, but other pointers
		again := all[i]
		create(first, first, "a", nil) // all plants have this key: with another id it is another request
		create(first, again, "a", nil)
		create(first, again, "b", plant.ErrExists)
		for _, other := range all {
			if !reflect.DeepEqual(other.Plant, first.Plant) {
				create(first, other, "a", plant.ErrKeyReused)
			}
		}
		create(first, again, "a", nil) // the first plant is unchanged
	}
	largest := plant.NewPlant{ID: 100, Plant: plant.Plant{Name: strings.Repeat("n", plant.MaxSize)}}
	create(largest, largest, "a", nil)
	create(largest, largest, "a", nil)
}

// plants returns valid plants, each with another id. They give every member of
// plant.Plant several values, so that a store that ignores or loses a member fails,
// also if the member is new.
func plants(t *testing.T) []plant.NewPlant {
	t.Helper()
	var all []plant.NewPlant
	for i, member := range slices.Collect(reflect.TypeFor[plant.Plant]().Fields()) {
		for _, value := range values(t, member.Type) {
			p := plant.NewPlant{Plant: plant.Plant{Name: "oak"}}
			reflect.ValueOf(&p.Plant).Elem().Field(i).Set(value)
			all = append(all, p)
		}
	}
	ids := []int64{math.MinInt64, math.MaxInt64, 0, -1, 1 << 53, 1<<53 + 1} // float64 has no 1<<53 + 1
	for i := range all {
		ids = append(ids, int64(i)+1)
		all[i].ID = ids[i]
	}
	return all
}

// values returns values of a type that a store may confuse or lose.
func values(t *testing.T, of reflect.Type) (all []reflect.Value) {
	t.Helper()
	switch of.Kind() {
	case reflect.Pointer:
		all = append(all, reflect.Zero(of))
		for _, value := range values(t, of.Elem()) {
			pointer := reflect.New(of.Elem())
			pointer.Elem().Set(value)
			all = append(all, pointer)
		}
	case reflect.String:
		for _, text := range []string{"", " \t\n", "e\u0301", "\u00e9", "a\x00Ä漢字🌱\U0010FFFF\u2028\uFFFE"} {
			all = append(all, reflect.ValueOf(text))
		}
	default:
		t.Fatalf("plant.Plant has a member of type %s: add values of that type here", of)
	}
	return all
}

// testConcurrentRequests sends each of several requests for one id several times,
// all at once. Every attempt of the request that wins must succeed.
func testConcurrentRequests(t *testing.T, store plant.Store) {
	const requests, attempts = 8, 4
	var errs [requests * attempts]error
	var group sync.WaitGroup
	for i := range errs {
		name := fmt.Sprint("plant ", i%requests)
		group.Go(func() { errs[i] = store.Create(t.Context(), write(newPlant(name), name)) })
	}
	group.Wait()
	winner := slices.Index(errs[:], nil)
	if winner < 0 {
		t.Fatalf("no request won: %v", errs)
	}
	for i, err := range errs {
		want := plant.ErrExists
		if i%requests == winner%requests {
			want = nil
		}
		if !errors.Is(err, want) {
			t.Errorf("request %d, attempt %d: Create = %v, want %v", i%requests, i/requests, err, want)
		}
	}
}

func testEndedContext(t *testing.T, store plant.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Create(ended, write(newPlant("oak"), "a")); !errors.Is(err, plant.ErrUnavailable) {
		t.Errorf("Create in an ended context = %v, want %v", err, plant.ErrUnavailable)
	}
	if err := store.Create(t.Context(), write(newPlant("elm"), "b")); err != nil {
		t.Errorf("Create of another plant = %v, want nil", err)
	}
}

func newPlant(name string) plant.NewPlant {
	return plant.NewPlant{ID: 1, Plant: plant.Plant{Name: name}}
}

func write(p plant.NewPlant, key string) plant.Write {
	return plant.Write{Plant: p, Key: plant.NewWriteKey("gardener", key), By: "gardener"}
}

// text returns the beginning of p in JSON.
func text(p plant.NewPlant) string {
	content, _ := json.Marshal(p) // a NewPlant always has a JSON form
	return fmt.Sprintf("%.100s", content)
}

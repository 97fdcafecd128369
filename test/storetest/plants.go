// Package planttest holds the suite that every plant.Store passes. It is what
// makes the store in memory and the one in DynamoDB interchangeable.
package storetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/plant"
)

// TestPlants runs the suite, each test on an empty store of its own.
func TestPlants(t *testing.T, newStore func(*testing.T) plant.Store) {
	t.Run("sequences of writes", func(t *testing.T) { testSequences(t, newStore) })
	t.Run("every valid plant is kept exactly", func(t *testing.T) { testExactness(t, newStore(t)) })
	t.Run("of many writers at once one wins", func(t *testing.T) { testRace(t, newStore(t)) })
	t.Run("a write repeated at once succeeds each time", func(t *testing.T) { testReplay(t, newStore(t)) })
	t.Run("a context that has ended", func(t *testing.T) { testEndedContext(t, newStore(t)) })
}

// step is one write of a sequence, and what Create must return.
type step struct {
	write plant.Write
	want  error
}

func testSequences(t *testing.T, newStore func(*testing.T) plant.Store) {
	oak, elm := newPlant(1, "oak"), newPlant(1, "elm")
	tagged, untagged := withTag(newPlant(1, "oak"), ""), newPlant(1, "oak")
	tests := []struct {
		name  string
		steps []step
	}{
		{"a new plant is created", []step{{write(oak, "a"), nil}}},
		{"the same plant under another key exists", []step{{write(oak, "a"), nil}, {write(oak, "b"), plant.ErrExists}}},
		{"another plant of the same id exists", []step{{write(oak, "a"), nil}, {write(elm, "b"), plant.ErrExists}}},
		{"the same write again succeeds", []step{{write(oak, "a"), nil}, {write(oak, "a"), nil}, {write(oak, "a"), nil}}},
		{"another plant under the same key is refused", []step{{write(oak, "a"), nil}, {write(elm, "a"), plant.ErrKeyReused}}},
		{"an empty tag is not the same as none", []step{{write(tagged, "a"), nil}, {write(untagged, "a"), plant.ErrKeyReused}, {write(tagged, "a"), nil}}},
		{"no tag is not the same as an empty one", []step{{write(untagged, "a"), nil}, {write(tagged, "a"), plant.ErrKeyReused}, {write(untagged, "a"), nil}}},
		{"another id under the same key is another request", []step{{write(oak, "a"), nil}, {write(newPlant(2, "oak"), "a"), nil}}},
		{"a refused write leaves the first plant as it is", []step{
			{write(oak, "a"), nil},
			{write(elm, "b"), plant.ErrExists},
			{write(elm, "a"), plant.ErrKeyReused},
			{write(oak, "a"), nil},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := newStore(t)
			for i, s := range test.steps {
				if err := store.Create(t.Context(), s.write); !errors.Is(err, s.want) {
					t.Fatalf("step %d: Create(%+v) = %v, want %v", i+1, s.write, err, s.want)
				}
			}
		})
	}
}

// testExactness finds out by replay what was stored: only the very same plant
// succeeds under the same key.
func testExactness(t *testing.T, store plant.Store) {
	large := strings.Repeat("x", plant.MaxSize-1)
	tests := []struct {
		name string
		p    plant.NewPlant
	}{
		{"the smallest id", newPlant(math.MinInt64, "oak")},
		{"the largest id", newPlant(math.MaxInt64, "oak")},
		{"zero as id", newPlant(0, "oak")},
		{"a negative id", newPlant(-1, "oak")},
		{"the last id that float64 knows apart", newPlant(1<<53, "oak")},
		{"the id after it", newPlant(1<<53+1, "elm")},
		{"no tag", newPlant(10, "oak")},
		{"an empty tag", withTag(newPlant(11, "oak"), "")},
		{"NUL in the name", newPlant(12, "a\x00b")},
		{"every plane of Unicode", withTag(newPlant(13, "Ä漢字🌱\U0010FFFF"), "\u2028\uFFFE")},
		{"decomposed characters", newPlant(14, "e\u0301")},
		{"white space alone", withTag(newPlant(15, " "), "\t\n")},
		{"the largest plant", withTag(newPlant(16, "n"), large)},
	}
	for _, test := range tests {
		w := write(test.p, "exact")
		if err := store.Create(t.Context(), w); err != nil {
			t.Errorf("%s: Create = %v, want nil", test.name, err)
			continue
		}
		if err := store.Create(t.Context(), w); err != nil {
			t.Errorf("%s: Create again = %v, want nil", test.name, err)
		}
		w.Plant.Name += "x"
		if err := store.Create(t.Context(), w); !errors.Is(err, plant.ErrKeyReused) {
			t.Errorf("%s: Create of another name = %v, want %v", test.name, err, plant.ErrKeyReused)
		}
	}
}

func testRace(t *testing.T, store plant.Store) {
	const writers = 32
	writes := make([]plant.Write, writers)
	for i := range writes {
		writes[i] = write(newPlant(1, strings.Repeat("n", i+1)), strings.Repeat("k", i+1))
	}
	won := -1
	for i, err := range createAll(t.Context(), store, writes) {
		switch {
		case err == nil && won >= 0:
			t.Errorf("writers %d and %d both won", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, plant.ErrExists):
			t.Errorf("writer %d: Create = %v, want nil or %v", i, err, plant.ErrExists)
		}
	}
	if won < 0 {
		t.Fatal("no writer won")
	}
	if err := store.Create(t.Context(), writes[won]); err != nil {
		t.Errorf("the stored plant is not the winner's: Create again = %v, want nil", err)
	}
}

func testReplay(t *testing.T, store plant.Store) {
	writes := make([]plant.Write, 32)
	for i := range writes {
		writes[i] = write(newPlant(1, "oak"), "a")
	}
	for i, err := range createAll(t.Context(), store, writes) {
		if err != nil {
			t.Errorf("writer %d: Create = %v, want nil", i, err)
		}
	}
}

func testEndedContext(t *testing.T, store plant.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Create(ended, write(newPlant(1, "oak"), "a")); !errors.Is(err, plant.ErrUnavailable) {
		t.Errorf("Create in an ended context = %v, want %v", err, plant.ErrUnavailable)
	}
	if err := store.Create(t.Context(), write(newPlant(1, "elm"), "b")); err != nil {
		t.Errorf("Create after a write that was not made = %v, want nil", err)
	}
}

// createAll makes all writes at once and returns the error of each.
func createAll(ctx context.Context, store plant.Store, writes []plant.Write) []error {
	errs := make([]error, len(writes))
	var group sync.WaitGroup
	for i, w := range writes {
		group.Go(func() { errs[i] = store.Create(ctx, w) })
	}
	group.Wait()
	return errs
}

func newPlant(id int64, name string) plant.NewPlant {
	return plant.NewPlant{ID: id, Plant: plant.Plant{Name: name}}
}

func withTag(p plant.NewPlant, tag string) plant.NewPlant {
	p.Tag = &tag
	return p
}

func write(p plant.NewPlant, key string) plant.Write {
	return plant.Write{
		Plant: p,
		Key:   plant.NewWriteKey("gardener", key),
		By:    "gardener",
		At:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
}

package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// aliceFern is the item that create stores for alice. Other programs read these attributes.
const aliceFern = `{"created_at":{"S":"2026-03-01T12:00:00Z"},"created_by":{"S":"alice"},"id":{"N":"1"},` +
	`"name":{"S":"fern"},"write_key":{"S":"alice's key"}}`

var bobFern = strings.ReplaceAll(aliceFern, "alice", "bob")

// create creates the subject's fern within the 2.7 s that a request has.
func create(t *testing.T, fake *fake, subject string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2700*time.Millisecond)
	defer cancel()
	return newPlants(fake).Create(ctx, plant.Write{
		NewPlant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "fern"}},
		WriteKey: subject + "'s key",
		Subject:  subject,
		Time:     time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600)),
	})
}

// errOther stands for any error that is not in a store's contract.
var errOther = errors.New("another error")

// contractError returns the error in a store's contract that err matches, or errOther.
func contractError(err error) error {
	for _, target := range []error{
		nil, plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, token.ErrNotFound, token.ErrUnavailable,
	} {
		if errors.Is(err, target) {
			return target
		}
	}
	return errOther
}

// A stored item never changes. Only a request with the same key and plant is the same request.
func TestExistingItem(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(aliceFern, from, to, 1) }
	tests := []struct {
		name string
		item string
		want error
	}{
		{"same request", aliceFern, nil},
		{"same request at another time", change("2026-03-01T12:00:00Z", "yesterday"), nil},
		{"same request, with another program's attribute", change("{", `{"TAG":{"S":"note"},`), nil},
		{"another name", change("fern", "ficus"), plant.ErrKeyReused},
		{"an empty tag", change(`"write_key"`, `"tag":{"S":""},"write_key"`), plant.ErrKeyReused},
		{"another key", bobFern, plant.ErrExists},
		{"no key", change(`,"write_key":{"S":"alice's key"}`, ""), plant.ErrExists},
	}
	for _, test := range tests {
		for _, outcomes := range [][]outcome{{answered}, {{applied: true, fault: brokenConnection}, answered}} {
			t.Run(fmt.Sprintf("%s, attempts: %d", test.name, len(outcomes)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fake := newFake(outcomes...)
					fake.store(test.item)
					err := create(t, fake, "alice")
					if got := fake.item("1"); !errors.Is(contractError(err), test.want) || got != test.item {
						t.Errorf("Create = %v, stored %s, want %v, %s", err, got, test.want, test.item)
					}
				})
			})
		}
	}
}

// A request with the same key is another request if any field of its plant differs.
func TestEveryFieldIsCompared(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[plant.Plant]()) {
		t.Run(field.Name, func(t *testing.T) {
			store := newPlants(newFake())
			var w plant.Write
			if err := store.Create(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			switch value := reflect.ValueOf(&w.NewPlant.Plant).Elem().FieldByIndex(field.Index); value.Kind() {
			case reflect.String:
				value.SetString("another")
			case reflect.Pointer:
				value.Set(reflect.New(value.Type().Elem()))
			default:
				t.Fatalf("this test cannot change a field of type %v yet", value.Type())
			}
			if err := store.Create(t.Context(), w); !errors.Is(err, plant.ErrKeyReused) {
				t.Errorf("Create with another %s = %v, want %v", field.Name, err, plant.ErrKeyReused)
			}
		})
	}
}

// Requests for one id race under random faults. Only one subject's requests succeed, and only the others are told that
// the id exists.
func TestRace(t *testing.T) {
	outcomes := []outcome{
		answered,
		{fault: brokenConnection},
		{applied: true, fault: brokenConnection},
		{fault: throttling},
		answered,
		{fault: noAnswer},
		{applied: true, fault: noAnswer},
		{applied: true, fault: internalError},
	}
	subjects := []string{"alice", "alice", "alice", "bob", "bob", "bob"}
	count := map[error]int{}
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			shuffled := make([]outcome, 200)
			for i := range shuffled {
				shuffled[i] = outcomes[random.IntN(len(outcomes))]
			}
			fake := newFake(shuffled...)
			errs := make([]error, len(subjects))
			var group sync.WaitGroup
			for i, subject := range subjects {
				group.Go(func() { errs[i] = contractError(create(t, fake, subject)) })
			}
			group.Wait()
			stored := fake.item("1")
			for i, subject := range subjects {
				want := plant.ErrExists
				if stored == strings.ReplaceAll(aliceFern, "alice", subject) {
					want = nil
				}
				if !errors.Is(errs[i], want) && !errors.Is(errs[i], plant.ErrUnavailable) {
					t.Errorf("seed %d: %s gets %v, and the table has %s", seed, subject, errs[i], stored)
				}
				count[errs[i]]++
			}
		})
	}
	if count[nil] < 100 || count[plant.ErrExists] < 100 {
		t.Errorf("the results are %v, want at least 100 each of nil and %v", count, plant.ErrExists)
	}
}

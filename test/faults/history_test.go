// Package faults checks that concurrent writes of one id learn the truth about it, while attempts to
// reach DynamoDB fail: `make test` in a short form, `make soak` in full. Each single fault is tested in
// internal/dynamo, and how the service answers each outcome in internal/api.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
)

// A write is what a request would store under its id.
type write struct{ name, key string }

var (
	names = []string{"Monstera", "Fern"}
	keys  = []string{"a", "b", "c"}
)

// model is what the store promises of one id: the first write stays, and each later one gets the
// truth about it. The input is a write, the output its error, and the state what is stored.
var model = porcupine.Model{
	Init: func() any { return write{} },
	Step: func(state, input, output any) (bool, any) {
		stored, sent := state.(write), input.(write)
		empty := stored == write{}
		switch output {
		case nil: // created, now or before by the same request
			return empty || stored == sent, sent
		case plant.ErrExists:
			return !empty && stored.key != sent.key, stored
		case plant.ErrKeyReused:
			return stored.key == sent.key && stored.name != sent.name, stored
		case plant.ErrUnavailable:
			return true, stored
		}
		return false, stored
	},
}

// Eight writers at once share an id, names and keys, while their attempts meet faults. Then each write
// is repeated without a fault, which shows what is stored. The history is linearizable. Every request
// has a client of its own, as if the function before was killed.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const writers = 8
	_, table, _ := dynamotest.NewTables(t)
	histories := int64(24)
	if os.Getenv("SOAK") != "" {
		histories = 4000
	}
	for id := range histories {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			var parts [writers + 1][]porcupine.Operation
			var group sync.WaitGroup
			for i := range writers {
				c := newClient(t, table, id, pick[int64](0, 1, 2, always))
				group.Go(func() { parts[i] = c.write(write{name: pick(names...), key: pick(keys...)}) })
			}
			group.Wait()
			parts[writers] = newClient(t, table, id, 0).writeAll()
			history := slices.Concat(parts[:]...)
			if !porcupine.CheckOperations(model, history) {
				t.Errorf("the history is not linearizable: %+v", history)
			}
		})
	}
}

// A client writes one id to a DynamoDB that is behind its proxy.
type client struct {
	t       *testing.T
	proxy   *proxy
	table   string
	id      int64
	timeout time.Duration // of the next request
}

const patience = 30 * time.Second // of a client whose attempts do not all fail

// newClient returns a client whose next attempts, this many, meet a fault.
func newClient(t *testing.T, table string, id, failing int64) *client {
	t.Helper()
	c := &client{t: t, proxy: newProxy(t, pick(faults...), failing), table: table, id: id, timeout: patience}
	if failing == always {
		c.timeout = 700 * time.Millisecond
	}
	return c
}

// writeAll sends every write once.
func (c *client) writeAll() (history []porcupine.Operation) {
	for _, name := range names {
		for _, key := range keys {
			history = append(history, c.write(write{name: name, key: key})...)
		}
	}
	return history
}

// write sends w. If the store is unavailable or the outcome unknown, it ends the fault and repeats w. An
// unknown outcome is that of the next request with a known one: the two are one operation.
func (c *client) write(w write) (history []porcupine.Operation) {
	unknown := false
	call := time.Now().UnixNano()
	for range 10 { // a busy machine needs more than two
		outcome := c.create(w)
		unknown = unknown || errors.Is(outcome, plant.ErrOutcomeUnknown)
		again := errors.Is(outcome, plant.ErrUnavailable) || errors.Is(outcome, plant.ErrOutcomeUnknown)
		if !again || !unknown {
			history = append(history, porcupine.Operation{Input: w, Call: call, Output: outcome, Return: time.Now().UnixNano()})
			call = time.Now().UnixNano()
		}
		if !again {
			return history
		}
		c.proxy.failing.Store(0)
		c.timeout = patience
	}
	c.t.Errorf("after ten requests, the outcome of %+v is unknown", w)
	return history
}

// create sends w by a new client, and returns the error of package plant.
func (c *client) create(w write) error {
	newPlant := plant.NewPlant{ID: c.id, Plant: plant.Plant{Name: w.name}}
	store := &dynamo.Plants{Client: dynamotest.FunctionClient(c.proxy.URL), Table: c.table}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	err := store.Create(ctx, plant.Write{NewPlant: newPlant, WriteKey: w.key, Subject: "alice", Time: time.Now()})
	for _, outcome := range []error{plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, plant.ErrOutcomeUnknown} {
		if errors.Is(err, outcome) {
			return outcome
		}
	}
	return err
}

// pick returns one of choices.
func pick[T any](choices ...T) T { return choices[rand.IntN(len(choices))] }

package faults

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/processtest"
)

const (
	always = 1 << 20                // attempts, which outlast every budget
	busy   = 500 * time.Millisecond // by which a busy machine may delay an answer

	// The functions answer within these times.
	createLimit    = 3 * time.Second
	authorizeLimit = 2 * time.Second
)

// recovered records which faults a request survived. A busy machine may delay any
// one request beyond its budget, so one of several must survive.
type recovered struct{ faults sync.Map }

func (r *recovered) record(fault string, survived bool) {
	if _, known := r.faults.LoadOrStore(fault, survived); known && survived {
		r.faults.Store(fault, true)
	}
}

func (r *recovered) check(t *testing.T) {
	t.Helper()
	r.faults.Range(func(fault, survived any) bool {
		if survived == false {
			t.Errorf("no request survived %s", fault)
		}
		return true
	})
}

// Each fault, for one or two attempts or for good: the answer is true and in time.
// If the fault passes, the answer is the plant.
func TestNoFaultMakesAFalseAnswer(t *testing.T) {
	t.Parallel()
	d, r := newDatabase(t), new(recovered)
	crowd(len(faults)*processtest.Scale(8, 300), 12, func(i int) {
		f, turn := faults[i%len(faults)], i/len(faults)
		attempts := []int{1, 2, 1, always}[turn%4]
		if attempts == always && f.lasting == nil {
			attempts = 2
		}
		c := creation{id: int64(i), name: fmt.Sprintf("plant %d", i)}
		if turn%8 < 4 {
			c.key = fmt.Sprintf("key-%d", i)
		}
		code, err := d.try(f, attempts, c)
		if err != nil {
			t.Errorf("%s, in %d attempts of request %d: %v", f.name, attempts, i, err)
		}
		if attempts == always && !slices.Contains(f.lasting, code) {
			t.Errorf("%s, for good: answer = %d, want one of %v", f.name, code, f.lasting)
		} else if attempts < always {
			r.record(fmt.Sprintf("%s in %d attempts", f.name, attempts), code == 0)
		}
	})
	r.check(t)
}

// try sends c, of which the first attempts meet f, and compares the answer with
// the table. Then it sends c again without faults: that must create the plant
// unless it is there. It returns the code of the first answer.
func (d *database) try(f *fault, attempts int, c creation) (code int, err error) {
	fresh := fmt.Sprintf("fresh-%d", c.id)
	start := time.Now()
	got, err := d.send(d.meeting(f, attempts), c, fresh)
	took := time.Since(start)
	if err != nil {
		return got.code, err
	}
	if took > createLimit+busy {
		return got.code, fmt.Errorf("answer = %+v after %v, want it within %v", got, took, createLimit)
	}
	c.key = cmp.Or(c.key, fresh)
	there, err := d.find(c.id)
	isTrue := map[outcome]bool{
		{0, c.name, ""}:   there == c.stored(),
		{5002, "", c.key}: there == stored{},
		{5004, "", c.key}: there == stored{} || there == c.stored(),
	}
	if err != nil || !isTrue[got] {
		return got.code, cmp.Or(err, fmt.Errorf("answer = %+v while the table holds %+v", got, there))
	}
	again, err := d.send(d.direct, c, "")
	if there, _ = d.find(c.id); err == nil && (again.code != 0 || there != c.stored()) {
		err = fmt.Errorf("answer = %+v, and then %+v while the table holds %+v", got, again, there)
	}
	return got.code, err
}

// Each fault, for one or two attempts or for good: the authorizer never denies a
// valid token and never allows another.
func TestNoFaultMakesAFalseVerdict(t *testing.T) {
	t.Parallel()
	d, r := newDatabase(t), new(recovered)
	crowd(len(faults)*processtest.Scale(8, 100), 12, func(i int) {
		f, turn := faults[i%len(faults)], i/len(faults)
		var store token.Store = &dynamo.Tokens{Client: d.direct, Table: d.tokens}
		want := "allow"
		if turn%2 == 1 {
			store, want = new(memory.Tokens), "deny"
		}
		secret, _ := processtest.IssueToken(t, store, "gardener", time.Now())
		attempts := []int{1, 1, 2, 2, 1, 1, always, always}[turn%8]
		if attempts == always {
			want = "unavailable"
		}
		var log bytes.Buffer
		authorizer := &api.Authorizer{
			Verify: token.Verifier{
				Store: &dynamo.Tokens{Client: d.meeting(f, attempts), Table: d.tokens},
				Now:   time.Now,
			}.Verify,
			Log: slog.New(slog.NewJSONHandler(&log, nil)),
			Now: time.Now,
		}
		start := time.Now()
		response, err := authorizer.Invoke(t.Context(), []byte(`{"headers":{"authorization":"Bearer `+secret+`"}}`))
		took := time.Since(start)
		var got struct{ Context struct{ Verdict string } }
		err = cmp.Or(err, json.Unmarshal(response, &got))
		verdict := got.Context.Verdict
		if attempts < always {
			r.record(fmt.Sprintf("%s in %d attempts, to %s", f.name, attempts, want), verdict == want)
		}
		if err != nil || verdict != want && verdict != "unavailable" || took > authorizeLimit+busy {
			t.Errorf("%s, in %d attempts: verdict = %q, %v after %v, want %s within %v; the log: %s",
				f.name, attempts, verdict, err, took, want, authorizeLimit, &log)
		}
	})
	r.check(t)
}

// model is what the service promises of one id: the first write stays, and each
// later one gets the truth about it. The input of a write is what it would store,
// and its output an error that plant.Store promises, or else the history is not
// linearizable. The state, and the output of a read, is what the table holds.
var model = porcupine.Model{
	Init: func() any { return stored{} },
	Step: func(state, input, output any) (bool, any) {
		there, sent := state.(stored), input.(stored)
		empty := there == stored{}
		switch output {
		case nil: // created, now or before by the same request
			return empty || there == sent, sent
		case plant.ErrExists:
			return !empty && there.writeKey != sent.writeKey, there
		case plant.ErrKeyReused:
			return there.writeKey == sent.writeKey && there.name != sent.name, there
		case plant.ErrUnavailable:
			return true, there
		case plant.ErrOutcomeUnknown:
			if empty {
				return true, sent
			}
			return true, there
		}
		return output == there, there
	},
}

// Eight writers at once share an id, plants and keys, while their first attempts
// meet faults. Each history, with a read of the table at its end, is linearizable.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	d, seed := newDatabase(t), processtest.Seed(t)
	crowd(processtest.Scale(24, 400), 8, func(id int) {
		history := make([]porcupine.Operation, 8)
		var group sync.WaitGroup
		for i := range history {
			random := rand.New(rand.NewPCG(seed, uint64(id*len(history)+i)))
			group.Go(func() { history[i] = d.write(random, int64(id)) })
		}
		group.Wait()
		call := time.Now().UnixNano()
		there, err := d.find(int64(id))
		read := porcupine.Operation{Input: stored{}, Output: there, Call: call, Return: time.Now().UnixNano()}
		if err != nil || !porcupine.CheckOperations(model, append(history, read)) {
			t.Errorf("the history of id %d is not linearizable: %+v, %+v, %v", id, history, read, err)
		}
	})
}

// write creates a plant and returns what its writer learns.
func (d *database) write(random *rand.Rand, id int64) porcupine.Operation {
	c := creation{id, []string{"oak", "elm"}[random.IntN(2)], []string{"a", "b", "c"}[random.IntN(3)]}
	f, attempts := faults[random.IntN(len(faults))], random.IntN(3)
	if f.lasting == nil {
		attempts = 0 // a lie that nothing follows has a false outcome
	}
	store := &dynamo.Plants{Client: d.meeting(f, attempts), Table: d.plants}
	// Within a second, some do not learn their outcome; within thirty, all do.
	timeout := []time.Duration{time.Second, 30 * time.Second}[random.IntN(2)]
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	call := time.Now()
	err := store.Create(ctx, plant.Write{
		Plant: plant.NewPlant{ID: c.id, Plant: plant.Plant{Name: c.name}},
		Key:   plant.NewWriteKey("gardener", c.key), By: "gardener", At: call,
	})
	o := porcupine.Operation{Input: c.stored(), Output: err, Call: call.UnixNano(), Return: time.Now().UnixNano()}
	if errors.Is(err, plant.ErrOutcomeUnknown) {
		o.Return = math.MaxInt64 // it may be carried out at any time, or never
	}
	for _, promised := range []error{plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, plant.ErrOutcomeUnknown} {
		if errors.Is(err, promised) {
			o.Output = promised
		}
	}
	return o
}

package faults

import (
	"context"
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
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// model is what the service promises of one id: the first write stays, and each later one gets the
// truth about it. The input of a write is what it would store, and its output the code of the answer.
// The state, and the output of a read, is what the table holds.
var model = porcupine.Model{
	Init: func() any { return stored{} },
	Step: func(state, input, output any) (bool, any) {
		there := state.(stored)
		if read, ok := output.(stored); ok {
			return read == there, there
		}
		sent := input.(stored)
		empty := there == stored{}
		switch output {
		case 0: // created, now or before by the same request
			return empty || there == sent, sent
		case 3001:
			return !empty && there.writeKey != sent.writeKey, there
		case 3002:
			return there.writeKey == sent.writeKey && there.name != sent.name, there
		case 5002:
			return true, there
		case 5004:
			if empty {
				return true, sent
			}
			return true, there
		}
		return false, there
	},
}

// Eight writers at once share an id, plants and keys, while their attempts meet faults. Each history,
// with a read of the table at its end, is linearizable.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const writers = 8
	d, seed := newDatabase(t), processtest.Seed(t)
	for id := range processtest.Scale(24, 400) {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			var histories [writers][]porcupine.Operation
			var group sync.WaitGroup
			for i := range writers {
				random := rand.New(rand.NewPCG(seed, uint64(id*writers+i)))
				group.Go(func() { histories[i] = d.write(t, random, int64(id)) })
			}
			group.Wait()
			read := porcupine.Operation{Call: time.Now().UnixNano()}
			read.Output = d.find(t, int64(id))
			read.Return = time.Now().UnixNano()
			history := append(slices.Concat(histories[:]...), read)
			if !porcupine.CheckOperations(model, history) {
				t.Errorf("the history is not linearizable: %+v", history)
			}
		})
	}
}

// write creates a plant while its attempts meet a fault: up to two of them, or all in a short time. If the
// answer is 5002 or 5004, the client repeats its request after the fault, with the key of the answer, until
// it gets the outcome.
func (d *database) write(t *testing.T, random *rand.Rand, id int64) []porcupine.Operation {
	c := creation{id: id, name: pick(random, "fern", "ficus"), key: pick(random, "a", "b", "c")}
	attempts, timeout := pick(random, 0, 1, 2, always), 30*time.Second
	if attempts == always {
		timeout = 700 * time.Millisecond
	}
	p := newProxy(t, d)
	p.meets(pick(random, faults...), attempts)
	answer, operation := d.send(t, p, c, pick(random, c.key, ""), timeout)
	history := []porcupine.Operation{operation}
	p.recovers()
	for answer.code == 5002 || answer.code == 5004 {
		if answer.key != c.key {
			t.Errorf("the answer to %+v is %+v, want its key to repeat with", c, answer)
			break
		}
		if len(history) == 10 { // a busy machine needs more than two
			t.Errorf("after ten requests, the answer to %+v is %+v, want the outcome", c, answer)
			break
		}
		answer, operation = d.send(t, p, c, answer.key, 30*time.Second)
		history = append(history, operation)
	}
	return history
}

// send sends c with this key, or none, to a new createplant. If there is none, createplant makes the key of c.
func (d *database) send(
	t *testing.T, p *proxy, c creation, key string, timeout time.Duration,
) (outcome, porcupine.Operation) {
	service := &api.Service{
		Plants: &dynamo.Plants{Client: dynamotest.FunctionClient(p.URL), Table: d.plants},
		Log:    slog.New(slog.NewJSONHandler(t.Output(), nil)),
		Now:    time.Now,
		NewKey: func() string { return c.key },
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	o := porcupine.Operation{Input: c.stored(), Call: time.Now().UnixNano()}
	response, err := service.Invoke(ctx, c.event(key))
	o.Return = time.Now().UnixNano()
	if err != nil {
		t.Error(err)
	}
	got, err := c.read(response)
	if err != nil {
		t.Error(err)
	}
	o.Output = got.code
	if got.code == 5004 {
		o.Return = math.MaxInt64 // it may be carried out at any time, or never
	}
	return got, o
}

// pick returns one of choices.
func pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

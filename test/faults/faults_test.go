package faults

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
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

// TestMain runs more tests at once than there are processors, because they wait more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	m.Run()
}

// Each fault, for one or two attempts: the answer is true and in time, and it is the plant. A busy machine
// may delay any one request beyond its budget, so one of several must get the plant.
func TestNoFaultMakesAFalseAnswer(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	tests := []struct {
		name     string
		attempts int // that meet the fault
		hasKey   bool
	}{
		{name: "once, with a key", attempts: 1, hasKey: true},
		{name: "once, without a key", attempts: 1, hasKey: false},
		{name: "twice, with a key", attempts: 2, hasKey: true},
		{name: "twice, without a key", attempts: 2, hasKey: false},
	}
	for _, f := range faults {
		for _, test := range tests {
			t.Run(f.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				var codes []int
				for range processtest.Scale(2, 75) {
					code := d.checkAnswer(t, d.meeting(f, test.attempts), d.newCreation(test.hasKey))
					codes = append(codes, code)
				}
				if !slices.Contains(codes, 0) {
					t.Errorf("answers = %v, want a plant among them", codes)
				}
			})
		}
	}
}

// Each fault, until the budget ends: the answer is true and in time.
func TestNoLastingFaultMakesAFalseAnswer(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	tests := []struct {
		name   string
		hasKey bool
	}{
		{name: "with a key", hasKey: true},
		{name: "without a key", hasKey: false},
	}
	for _, f := range faults {
		if f.lie {
			continue
		}
		for _, test := range tests {
			t.Run(f.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				for range processtest.Scale(1, 75) {
					code := d.checkAnswer(t, d.meeting(f, always), d.newCreation(test.hasKey))
					if !slices.Contains(f.lasting, code) {
						t.Errorf("answer = %d, want one of %v", code, f.lasting)
					}
				}
			})
		}
	}
}

// checkAnswer sends c through a client that meets a fault, and compares the answer with the table. Then
// it sends c again without a fault, which must create the plant unless it is there. It returns the code
// of the first answer.
func (d *database) checkAnswer(t *testing.T, client *dynamodb.Client, c creation) int {
	t.Helper()
	fresh := fmt.Sprintf("fresh-%d", c.id)
	start := time.Now()
	got, err := d.send(client, c, fresh)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	if took > createLimit+busy {
		t.Errorf("answer = %+v after %v, want it within %v", got, took, createLimit)
	}
	if c.key == "" {
		c.key = fresh
	}
	there, err := d.find(c.id)
	if err != nil {
		t.Fatal(err)
	}
	if !isTrue(got, c, there) {
		t.Errorf("answer to %+v = %+v while the table holds %+v", c, got, there)
	}

	again, err := d.send(d.direct, c, "")
	if err != nil {
		t.Fatal(err)
	}
	there, err = d.find(c.id)
	if err != nil {
		t.Fatal(err)
	}
	if again.code != 0 || there != c.stored() {
		t.Errorf("answer to %+v = %+v, and then %+v while the table holds %+v", c, got, again, there)
	}
	return got.code
}

// isTrue reports whether got is a true answer to c while the table holds there.
func isTrue(got outcome, c creation, there stored) bool {
	none := stored{}
	switch got {
	case outcome{code: 0, name: c.name}:
		return there == c.stored()
	case outcome{code: 5002, key: c.key}:
		return there == none
	case outcome{code: 5004, key: c.key}:
		return there == none || there == c.stored()
	}
	return false
}

// Each fault, for one or two attempts: the authorizer allows a valid token and denies another. A busy
// machine may delay any one request beyond its budget, so one of several must get the verdict, and the
// others learn nothing false.
func TestNoFaultMakesAFalseVerdict(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	valid, missing := d.issue(t), unknownToken(t)
	tests := []struct {
		name     string
		token    string
		attempts int // that meet the fault
		want     string
	}{
		{name: "once, a valid token", token: valid, attempts: 1, want: "allow"},
		{name: "once, an unknown token", token: missing, attempts: 1, want: "deny"},
		{name: "twice, a valid token", token: valid, attempts: 2, want: "allow"},
		{name: "twice, an unknown token", token: missing, attempts: 2, want: "deny"},
	}
	for _, f := range faults {
		for _, test := range tests {
			t.Run(f.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				var verdicts []string
				for range processtest.Scale(2, 25) {
					verdict := d.authorize(t, d.meeting(f, test.attempts), test.token)
					if verdict != test.want && verdict != "unavailable" {
						t.Errorf("verdict = %q, want %q or unavailable", verdict, test.want)
					}
					verdicts = append(verdicts, verdict)
				}
				if !slices.Contains(verdicts, test.want) {
					t.Errorf("verdicts = %q, want %q among them", verdicts, test.want)
				}
			})
		}
	}
}

// Each fault, until the budget ends: the authorizer neither allows nor denies a token.
func TestNoLastingFaultMakesAVerdict(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	tests := []struct{ name, token string }{
		{name: "a valid token", token: d.issue(t)},
		{name: "an unknown token", token: unknownToken(t)},
	}
	for _, f := range faults {
		for _, test := range tests {
			t.Run(f.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				for range processtest.Scale(1, 25) {
					verdict := d.authorize(t, d.meeting(f, always), test.token)
					if verdict != "unavailable" {
						t.Errorf("verdict = %q, want unavailable", verdict)
					}
				}
			})
		}
	}
}

// authorize returns the authorizer's verdict about a token. It checks that the verdict is in time.
func (d *database) authorize(t *testing.T, client *dynamodb.Client, secret string) string {
	t.Helper()
	verifier := token.Verifier{Store: &dynamo.Tokens{Client: client, Table: d.tokens}, Now: time.Now}
	authorizer := &api.Authorizer{Verify: verifier.Verify, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	event := fmt.Appendf(nil, `{"headers":{"authorization":"Bearer %s"}}`, secret)
	start := time.Now()
	response, err := authorizer.Invoke(t.Context(), event)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	if took > authorizeLimit+busy {
		t.Errorf("verdict after %v, want it within %v", took, authorizeLimit)
	}
	var got struct{ Context struct{ Verdict string } }
	if err := json.Unmarshal(response, &got); err != nil {
		t.Fatal(err)
	}
	return got.Context.Verdict
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

// Eight writers at once share an id, plants and keys, while their first attempts meet faults. Each
// history, with a read of the table at its end, is linearizable.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const writers = 8
	d, seed := newDatabase(t), processtest.Seed(t)
	crowd(processtest.Scale(24, 400), 8, func(id int) {
		history := make([]porcupine.Operation, writers)
		var group sync.WaitGroup
		for i := range history {
			random := rand.New(rand.NewPCG(seed, uint64(id*writers+i)))
			group.Go(func() { history[i] = d.write(random, int64(id)) })
		}
		group.Wait()
		call := time.Now().UnixNano()
		there, err := d.find(int64(id))
		if err != nil {
			t.Error(err)
			return
		}
		read := porcupine.Operation{Input: stored{}, Output: there, Call: call, Return: time.Now().UnixNano()}
		history = append(history, read)
		if !porcupine.CheckOperations(model, history) {
			t.Errorf("the history of id %d is not linearizable: %+v", id, history)
		}
	})
}

// write creates a plant and returns what its writer learns.
func (d *database) write(random *rand.Rand, id int64) porcupine.Operation {
	c := creation{id: id, name: pick(random, "oak", "elm"), key: pick(random, "a", "b", "c")}
	f := pick(random, faults...)
	attempts := pick(random, 0, 1, 2)
	if f.lie {
		attempts = 0 // a lie that nothing follows has a false outcome
	}
	// Within a second, some do not learn their outcome; within thirty, all do.
	timeout := pick(random, time.Second, 30*time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	store := &dynamo.Plants{Client: d.meeting(f, attempts), Table: d.plants}
	call := time.Now()
	err := store.Create(ctx, plant.Write{
		Plant: plant.NewPlant{ID: c.id, Plant: plant.Plant{Name: c.name}},
		Key:   plant.NewWriteKey("gardener", c.key),
		By:    "gardener",
		At:    call,
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

// pick returns one of choices.
func pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

// Package faults checks that concurrent requests for one id learn the truth about it, while attempts to
// reach DynamoDB fail: `make test` in a short form, `make soak` in full. Each single fault is tested in
// internal/dynamo.
package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/test/dynamotest"
	"plantstore/test/openapitest"
)

// A write is what a request would store under its id.
type write struct {
	plant int // one of the two of openapitest
	key   string
}

var (
	plants = []int{0, 1}
	keys   = []string{"a", "b", "c"}
)

// model is what the service promises of one id: the first write stays, and each later one gets the
// truth about it. The input is a write, the output the code of the answer, and the state what is
// stored.
var model = porcupine.Model{
	Init: func() any { return write{} },
	Step: func(state, input, output any) (bool, any) {
		stored, sent := state.(write), input.(write)
		empty := stored == write{}
		switch output {
		case 0: // created, now or before by the same request
			return empty || stored == sent, sent
		case 3001:
			return !empty && stored.key != sent.key, stored
		case 3002:
			return stored.key == sent.key && stored.plant != sent.plant, stored
		case 5002:
			return true, stored
		}
		return false, stored
	},
}

// Eight writers at once share an id, plants and keys, while their attempts meet faults. Then each write
// is repeated without a fault, which shows what is stored. The history is linearizable. Every request
// has a function of its own, as if the one before was killed.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	const writers = 8
	_, table, _ := dynamotest.Tables(t)
	histories := int64(24)
	if os.Getenv("SOAK") != "" {
		histories = 400
	}
	for id := range histories {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			var parts [writers + 1][]porcupine.Operation
			var group sync.WaitGroup
			for i := range writers {
				c := &client{t: t, proxy: newProxy(t), table: table, id: id}
				group.Go(func() { parts[i] = c.write() })
			}
			group.Wait()
			last := &client{t: t, proxy: newProxy(t), table: table, id: id}
			parts[writers] = last.writeAll()
			history := slices.Concat(parts[:]...)
			if !porcupine.CheckOperations(model, history) {
				t.Errorf("the history is not linearizable: %+v", history)
			}
		})
	}
}

// A client sends requests for one id to functions whose DynamoDB is behind its proxy.
type client struct {
	t     *testing.T
	proxy *proxy
	table string
	id    int64
}

// write creates a plant while its attempts meet a fault: up to two of them, or all in a short time.
func (c *client) write() []porcupine.Operation {
	w := write{plant: pick(plants...), key: pick(keys...)}
	attempts, timeout := pick(0, 1, 2, always), 30*time.Second
	if attempts == always {
		timeout = 700 * time.Millisecond
	}
	c.proxy.meets(pick(faults...), attempts)
	return c.send(w, pick(w.key, ""), timeout)
}

// writeAll sends every write once.
func (c *client) writeAll() (history []porcupine.Operation) {
	for _, plant := range plants {
		for _, key := range keys {
			history = append(history, c.send(write{plant: plant, key: key}, key, 30*time.Second)...)
		}
	}
	return history
}

// send sends w with a key, or none. If the answer is 5002 or 5004, it ends the fault and repeats the
// request, with the key of the answer. An unknown outcome, 5004, is that of the next request with a
// known one: the two are one operation.
func (c *client) send(w write, key string, timeout time.Duration) (history []porcupine.Operation) {
	unknown, call := false, time.Now().UnixNano()
	for range 10 { // a busy machine needs more than two
		code, answered := c.invoke(w, key, timeout)
		again := code == 5002 || code == 5004
		unknown = unknown || code == 5004
		if !again || !unknown {
			history = append(history, porcupine.Operation{Input: w, Call: call, Output: code, Return: time.Now().UnixNano()})
			call = time.Now().UnixNano()
		}
		if !again {
			return history
		}
		if answered != w.key {
			c.t.Errorf("the answer %d to %+v has the key %q, want its own to repeat with", code, w, answered)
		}
		c.proxy.meets(fault{}, 0)
		key, timeout = w.key, 30*time.Second
	}
	c.t.Errorf("after ten requests, the outcome of %+v is unknown", w)
	return history
}

// invoke sends w with a key, or none, to a new createplant, which then makes the key of w. It returns
// the code of the answer, 0 for the Plant, and its key.
func (c *client) invoke(w write, key string, timeout time.Duration) (code int, answered string) {
	service := &api.Service{
		Plants: &dynamo.Plants{Client: dynamotest.FunctionClient(c.proxy.URL), Table: c.table},
		Log:    slog.New(slog.NewJSONHandler(c.t.Output(), nil)),
		Now:    time.Now,
		NewKey: func() string { return w.key },
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	response, err := service.Invoke(ctx, c.event(w, key))
	if err != nil {
		c.t.Error(err)
	}
	return c.read(w, response)
}

// event is the event of alice's request. It has no Authorization header, so presented is the hash of an
// empty text.
func (c *client) event(w write, key string) []byte {
	headers := ""
	if key != "" {
		headers = fmt.Sprintf(`"idempotency-key":%q`, key)
	}
	body := openapitest.NewPlant(openapitest.ID(c.id), openapitest.Plant(w.plant))
	return fmt.Appendf(nil, `{"routeKey":"POST /plants","headers":{%s},"body":%q,"requestContext":{"authorizer":{"lambda":{
		"verdict":"allow","subject":"alice","token_id":"t1",
		"presented":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}}`, headers, body)
}

// read returns the code of the response to a write, 0 for its Plant, and the key of the response.
func (c *client) read(w write, response []byte) (code int, key string) {
	var got struct {
		Headers map[string]string
		Body    string
	}
	if err := json.Unmarshal(response, &got); err != nil {
		c.t.Errorf("answer = %s: %v", response, err)
	}
	if got.Body == openapitest.Plant(w.plant) {
		return 0, ""
	}
	var refusal struct{ Error int }
	if err := json.Unmarshal([]byte(got.Body), &refusal); err != nil || refusal.Error == 0 {
		c.t.Errorf("answer = %s, want the Plant of %+v or an Error", response, w)
	}
	return refusal.Error, got.Headers["idempotency-key"]
}

// pick returns one of choices.
func pick[T any](choices ...T) T { return choices[rand.IntN(len(choices))] }

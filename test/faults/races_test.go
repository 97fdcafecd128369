package reliability

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

const writers = 32

// Of 32 writers on one id one wins, and the stored plant is the winner's: on the
// store itself, and through two processes.
func TestOneWriterWins(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	store := &dynamo.PlantStore{Client: client, Table: plants}
	onStore := func(ctx context.Context, p plant.NewPlant, key string) (int, error) {
		err := store.Create(ctx, plant.Write{Plant: p, Key: plant.NewWriteKey("gardener", key), By: "gardener", At: time.Now()})
		if errors.Is(err, plant.ErrExists) {
			return 3001, nil
		}
		return 0, err
	}
	secret := issue(t, &dynamo.TokenStore{Client: client, Table: tokens})
	binary := processtest.Build(t, "plantstore")
	servers := make([]*processtest.Server, 2)
	for i := range servers {
		servers[i] = processtest.Serve(t, binary, "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	}
	throughProcesses := func(ctx context.Context, p plant.NewPlant, key string) (int, error) {
		got, err := post(ctx, http.DefaultClient, servers[rand.IntN(2)].URL, secret, p, key)
		return got.code, err
	}
	for number, create := range []func(context.Context, plant.NewPlant, string) (int, error){onStore, throughProcesses} {
		for round := range processtest.Scale(20, 1000) {
			id := int64(number*1_000_000 + round)
			var codes [writers]int
			var group sync.WaitGroup
			for i := range writers {
				group.Go(func() {
					code, err := create(t.Context(), newPlant(id, name(i)), name(i))
					if err != nil {
						t.Error(err)
					}
					codes[i] = code
				})
			}
			group.Wait()
			there, err := find(t.Context(), client, plants, id)
			if err != nil {
				t.Fatal(err)
			}
			for i, code := range codes {
				if want := there.name == name(i); (code == 0) != want || (code != 0 && code != 3001) {
					t.Fatalf("id %d: writer %d got %d while the plant of %q is stored", id, i, code, there.name)
				}
			}
		}
	}
}

// The same request, sent many times and half of them at once, always gets the
// first answer; also from another process after a restart.
func TestReplaysGetTheFirstAnswer(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	secret := issue(t, &dynamo.TokenStore{Client: client, Table: tokens})
	binary := processtest.Build(t, "plantstore")
	half := processtest.Scale(50, 500)
	for range 2 { // processes, one after the other
		server := processtest.Serve(t, binary, "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
		crowd := newCrowd(50)
		for i := range half {
			send := func() {
				got, err := post(t.Context(), http.DefaultClient, server.URL, secret, newPlant(7, "oak"), "replay")
				if err != nil || got.code != 0 || got.name != "oak" {
					t.Errorf("replay %d = %v, %v, want the first answer", i, got, err)
				}
			}
			if i < half/2 {
				crowd.add(send)
			} else {
				send()
			}
		}
		crowd.wait()
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// An operation of a history, on one id.
type operation struct{ name, key string }

// Outcomes of an operation.
const (
	success   = "created, or created before by the same request"
	exists    = "exists"
	keyReused = "key was used with another plant"
	nothing   = "not created"
	unknown   = "unknown"
)

// model is what the service promises of one id: the first write stays, and each
// later one is told the truth about it. An operation of unknown outcome has no
// end, so one that was never applied stands after all others and harms none.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return operation{} },
		Step: func(state, input, output any) (bool, any) {
			there, op := state.(operation), input.(operation)
			empty := there == operation{}
			switch output {
			case success:
				return empty || there == op, op
			case exists:
				return !empty && there.key != op.key, there
			case keyReused:
				return !empty && there.key == op.key && there.name != op.name, there
			case unknown:
				if empty {
					return true, op
				}
			}
			return true, there
		},
	}
}

// Histories of writers that share ids, plants and keys, on a line with faults.
func TestHistoriesAreLinearizable(t *testing.T) {
	_, table, _ := dynamotest.Tables(t)
	random := rand.New(rand.NewPCG(processtest.Seed(t), 2))
	faults := slices.DeleteFunc(faults(), func(f fault) bool { return f.lie })
	var mu sync.Mutex
	next := func([]byte) fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(3) > 0 {
			return fault{}
		}
		return faults[random.IntN(len(faults))]
	}
	store := &dynamo.PlantStore{Client: dynamotest.Client(t, newProxy(t, next)), Table: table}
	crowd := newCrowd(8)
	for id := range int64(processtest.Scale(24, 400)) {
		crowd.add(func() {
			history := record(t, store, id)
			if !porcupine.CheckOperations(model(), history) {
				t.Errorf("the history of id %d is not linearizable: %+v", id, history)
			}
		})
	}
	crowd.wait()
}

// record lets eight writers write on id and returns what happened.
func record(t *testing.T, store plant.Store, id int64) []porcupine.Operation {
	var history [8]porcupine.Operation
	var group sync.WaitGroup
	for i := range history {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			input := operation{name: name(i % 3), key: name(i % 5)}
			call := time.Now().UnixNano()
			err := store.Create(ctx, plant.Write{
				Plant: newPlant(id, input.name), Key: plant.NewWriteKey("gardener", input.key), By: "gardener", At: time.Now(),
			})
			done := porcupine.Operation{ClientId: i, Input: input, Call: call, Return: time.Now().UnixNano()}
			switch {
			case err == nil:
				done.Output = success
			case errors.Is(err, plant.ErrExists):
				done.Output = exists
			case errors.Is(err, plant.ErrKeyReused):
				done.Output = keyReused
			case errors.Is(err, plant.ErrUnavailable):
				done.Output = nothing
			case errors.Is(err, plant.ErrOutcomeUnknown):
				done.Output = unknown
				done.Return = time.Now().Add(time.Hour).UnixNano() // it may be applied at any time
			default:
				t.Errorf("Create = %v, which is no error of the domain", err)
			}
			history[i] = done
		})
	}
	group.Wait()
	return history[:]
}

func name(i int) string { return strings.Repeat("n", i+1) }

// issue stores a token and returns its secret.
func issue(t *testing.T, store token.Store) string {
	t.Helper()
	secret, issued, err := token.Issue(crand.Reader, "gardener", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return secret
}

// post creates a plant over HTTP.
func post(ctx context.Context, client *http.Client, url, secret string, p plant.NewPlant, key string) (answer, error) {
	body := fmt.Sprintf(`{"id":%d,"name":%q}`, p.ID, p.Name)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/plants", strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(response.Body)
	if err := cmp.Or(err, response.Body.Close()); err != nil {
		return answer{}, err
	}
	return decodeBody(response.StatusCode, string(text), response.Header.Get("Idempotency-Key"))
}

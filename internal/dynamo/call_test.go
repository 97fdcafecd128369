package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/plant"
)

// oak is the write of these tests.
var oak = plant.Write{
	Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "oak"}},
	Key:   plant.NewWriteKey("gardener", "k"),
}

// What a put finds under its id, if the condition fails.
var (
	itself     = exists(oak.Key, "oak")
	changed    = exists(oak.Key, "elm")
	anothers   = exists(plant.NewWriteKey("florist", "k"), "oak")
	unreadable = strings.Replace(exists(oak.Key, "oak"), "2026-03-01T11:00:00Z", "yesterday", 1)
)

// exists is the body of the answer to a put whose id has a plant.
func exists(key, name string) string {
	return fmt.Sprintf(`{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "Item": {
		"id": {"N": "1"}, "name": {"S": %q}, "write_key": {"S": %q},
		"created_at": {"S": "2026-03-01T11:00:00Z"}, "created_by": {"S": "gardener"}
	}}`, name, key)
}

// outcome returns which of the errors that plant.Store promises err is, or errOther.
func outcome(err error) error {
	for _, promised := range []error{
		plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, plant.ErrOutcomeUnknown,
	} {
		if errors.Is(err, promised) {
			return promised
		}
	}
	if err != nil {
		return errOther
	}
	return nil
}

// errOther is every error that plant.Store does not name.
var errOther = errors.New("another error")

// create creates the oak in a DynamoDB that does with each attempt what the next of attempts says. It
// checks that each attempt is the same conditional put, and returns their number.
func create(t *testing.T, timeout time.Duration, attempts ...http.HandlerFunc) (n int, err error) {
	t.Helper()
	fake := newFake(t, attempts...)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	err = (&Plants{Client: fake.client(), Table: "plants"}).Create(ctx, oak)
	requests := fake.received()
	for _, r := range requests {
		if !strings.Contains(r.body, `"attribute_not_exists(id)"`) || r.body != requests[0].body {
			t.Errorf("attempt = %s, want the first, a conditional put: %s", r.body, requests[0].body)
		}
	}
	return len(requests), err
}

// The put is repeated until its outcome is known: as often as there are attempts in the row.
func TestCreateByAttempts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     error
	}{
		{"the plant is created", do(succeed), nil},
		{"the client repeats its request", do(refuseWith(itself)), nil},
		{"another request created the plant", do(refuseWith(anothers)), plant.ErrExists},
		{"another program stored an item", do(refuseWith(unreadable)), plant.ErrExists},
		{"the key was used with another plant", do(refuseWith(changed)), plant.ErrKeyReused},

		// No attempt before the last was applied, or may have been.
		{"one failure", do(fail, succeed), nil},
		{"four failures", do(fail, fail, fail, fail, succeed), nil},
		{"throttling", do(refuse("ThrottlingException"), succeed), nil},
		{"a conflict with a transaction", do(refuse("TransactionConflictException"), succeed), nil},
		{"a conflict with another region", do(refuse("ReplicatedWriteConflictException"), succeed), nil},
		{"an unknown failure", do(answer(501, errorBody("Unknown")), succeed), nil},
		{"a failure without a body", do(answer(500, ""), succeed), nil},
		{"an unavailable service", do(answer(503, errorBody("ServiceUnavailable")), succeed), nil},
		{"a proxy that waited too long", do(answer(408, ""), succeed), nil},
		{"a proxy that finds the request too large", do(answer(413, "<html>"), succeed), nil},
		{"a proxy that was left", do(answer(499, "<html>"), succeed), nil},
		{"a refusal that is no JSON", do(answer(400, "<html>"), succeed), nil},
		{"a refusal that names no error", do(answer(429, `{"message":"slow down"}`), succeed), nil},
		{"a refusal that names no error of DynamoDB's", do(answer(429, `{"code":"too_many"}`), succeed), nil},
		{"a refusal with an empty name", do(answer(400, `{"__type":"com.amazonaws#"}`), succeed), nil},
		{"a refusal that is cut", do(begin(400, hangUp), succeed), nil},

		// The first attempt was applied, but its answer was lost.
		{"a lost answer", do(hangUp, refuseWith(itself)), nil},
		{"no answer in time", do(stall, refuseWith(itself)), nil},
		{"a cut answer", do(begin(200, hangUp), refuseWith(itself)), nil},
		{"an answer that is no JSON", do(answer(200, "#"), refuseWith(itself)), nil},
		{"a lost answer, and another's plant", do(hangUp, refuseWith(anothers)), plant.ErrExists},
		{"a lost answer, and another plant", do(hangUp, refuseWith(changed)), plant.ErrKeyReused},

		// What came before the refusal decides whether the plant may have been created.
		{"a refusal", do(refuse("AccessDeniedException")), errOther},
		{"no table", do(refuse("ResourceNotFoundException")), errOther},
		{"an invalid request", do(refuse("ValidationException")), errOther},
		{"throttling, then a refusal", do(refuse("ThrottlingException"), refuse("AccessDeniedException")), errOther},
		{"a failure, then a refusal", do(fail, refuse("AccessDeniedException")), plant.ErrOutcomeUnknown},
		{"a lost answer, then a refusal", do(hangUp, refuse("ResourceNotFoundException")), plant.ErrOutcomeUnknown},
		{"a cut answer, then a refusal", do(begin(200, hangUp), refuse("AccessDeniedException")), plant.ErrOutcomeUnknown},
		{"the id exists, without the item", do(refuse("ConditionalCheckFailedException")), plant.ErrOutcomeUnknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, err := create(t, 5*time.Second, test.attempts...) // it ends by itself
			if got := outcome(err); !errors.Is(got, test.want) {
				t.Errorf("Create = %v, want %v", err, test.want)
			}
			if n != len(test.attempts) {
				t.Errorf("Create made %d attempts, want %d", n, len(test.attempts))
			}
		})
	}
}

// A put whose outcome does not become known ends with the deadline. The error contains the cause, for the log.
func TestCreateByDeadline(t *testing.T) {
	t.Parallel()
	throttle := refuse("ThrottlingException")
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		want     error
		cause    string
	}{
		{"every attempt fails", do(fail), plant.ErrOutcomeUnknown, "InternalServerError"},
		{"every answer is lost", do(hangUp), plant.ErrOutcomeUnknown, "EOF"},
		{"every answer is cut", do(begin(200, hangUp)), plant.ErrOutcomeUnknown, "unexpected EOF"},
		{"every answer is another server's", do(answer(429, "<html>")), plant.ErrOutcomeUnknown, "429"},
		{"no attempt is answered", do(stall), plant.ErrOutcomeUnknown, "deadline"},
		{"throttling, then no answer", do(throttle, stall), plant.ErrOutcomeUnknown, "Throttling"},
		{"a failure, then throttling", do(fail, throttle), plant.ErrOutcomeUnknown, "Throttling"},
		{"a lost answer, then no server", do(thenClose(hangUp)), plant.ErrOutcomeUnknown, "refused"},
		{"throttling, then no server", do(thenClose(throttle)), plant.ErrUnavailable, "refused"},
		{"no server", nil, plant.ErrUnavailable, "refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, err := create(t, 300*time.Millisecond, test.attempts...)
			if got := outcome(err); !errors.Is(got, test.want) {
				t.Fatalf("Create = %v after %d attempts, want %v", err, n, test.want)
			}
			if !strings.Contains(err.Error(), test.cause) {
				t.Errorf("Create = %v after %d attempts, want the cause %q", err, n, test.cause)
			}
		})
	}
}

// In a long outage a client uses up its retry quota. From then on each operation makes one attempt and
// ends before its deadline.
func TestQuota(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		always http.HandlerFunc
		want   error
	}{
		{"every attempt fails", fail, plant.ErrOutcomeUnknown},
		{"every attempt is throttled", refuse("ThrottlingException"), plant.ErrUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fake := newFake(t, test.always)
			store := &Plants{Client: fake.client(), Table: "plants"}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var outage sync.WaitGroup
			for range 60 {
				outage.Go(func() { _ = store.Create(ctx, oak) })
			}
			outage.Wait()
			before := len(fake.received())
			err := store.Create(ctx, oak)
			n := len(fake.received()) - before
			if got := outcome(err); !errors.Is(got, test.want) {
				t.Errorf("Create after an outage = %v, want %v", err, test.want)
			}
			if n != 1 {
				t.Errorf("Create after an outage made %d attempts, want 1", n)
			}
			if ctx.Err() != nil {
				t.Errorf("Create after an outage ended with its deadline, want an earlier end")
			}
		})
	}
}

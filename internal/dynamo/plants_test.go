package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

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

// After any single fault, the second attempt succeeds, whether or not the first one stored the plant.
func TestSingleFaults(t *testing.T) {
	for name, fault := range map[string]roundTrip{
		"unknown host":            fail(&net.DNSError{Err: "no such host", IsNotFound: true}),
		"broken connection":       brokenConnection,
		"no answer":               noAnswer,
		"truncated answer":        respond(200, iotest.ErrReader(io.ErrUnexpectedEOF)),
		"stalled answer":          stallInAnswer,
		"answer that is not JSON": answer(200, "#"),
		"internal error":          internalError,
		"throttling":              throttling,
		"account limit":           refuse(400, "RequestLimitExceeded"),
		"transaction conflict":    refuse(400, "TransactionConflictException"),
		"replication conflict":    refuse(400, "ReplicatedWriteConflictException"),
		"truncated refusal":       respond(400, iotest.ErrReader(io.ErrUnexpectedEOF)),
		"proxy's timeout":         answer(408, ""),
		"proxy's rate limit":      answer(429, `{"code": "too_many"}`),
		"proxy's HTML":            answer(400, "<html>"),
		"proxy's redirect":        answer(302, ""),
	} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, applied: %t", name, applied), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fake := newFake(outcome{applied, fault}, answered)
					err := create(t, fake, "alice")
					if got := fake.item("1"); err != nil || got != aliceFern || len(fake.attempts) != 2 {
						t.Errorf("Create = %v, stored %s in %d attempts, want %s in 2", err, got, len(fake.attempts), aliceFern)
					}
				})
			})
		}
	}
}

func TestFaultSequences(t *testing.T) {
	lost := outcome{applied: true, fault: brokenConnection}
	tests := []struct {
		name       string
		outcomes   []outcome
		want       error
		wantText   string // in the error, and so in the log
		wantStored string
	}{
		{name: "two lost answers", outcomes: []outcome{lost, lost, answered}, wantStored: aliceFern},
		{
			name:       "three failures",
			outcomes:   []outcome{{fault: internalError}, {fault: internalError}, {fault: internalError}, answered},
			wantStored: aliceFern,
		},
		{
			name: "existing item not returned", outcomes: []outcome{lost, {fault: refuse(400, "ConditionalCheckFailedException")}},
			want: plant.ErrUnavailable, wantText: "item was not returned", wantStored: aliceFern,
		},
		{name: "refusal", outcomes: []outcome{{fault: accessDenied}}, want: errOther, wantText: "AccessDenied"},
		{
			name: "refusal by another server", outcomes: []outcome{{fault: answer(403, `{"__type": "AccessDeniedException"}`)}},
			want: errOther, wantText: "AccessDenied",
		},
		{
			name:     "refusal after the deadline",
			outcomes: []outcome{{fault: noAnswer}, {fault: noAnswer}, {fault: noAnswer}, {fault: late(accessDenied)}},
			want:     errOther, wantText: "AccessDenied",
		},
		{
			name: "refusal after throttling", outcomes: []outcome{{fault: throttling}, {fault: accessDenied}},
			want: errOther, wantText: "AccessDenied",
		},
		{
			name: "refusal after a lost answer", outcomes: []outcome{lost, {fault: refuse(400, "ResourceNotFoundException")}},
			want: errOther, wantText: "ResourceNotFound", wantStored: aliceFern,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(test.outcomes...)
				err := create(t, fake, "alice")
				if !errors.Is(contractError(err), test.want) || !strings.Contains(fmt.Sprint(err), test.wantText) {
					t.Errorf("Create = %v, want %v with %q", err, test.want, test.wantText)
				}
				if got := fake.item("1"); got != test.wantStored {
					t.Errorf("stored %s, want %s", got, test.wantStored)
				}
				if got, want := len(fake.attempts), len(test.outcomes); got != want {
					t.Errorf("%d attempts, want %d", got, want)
				}
			})
		})
	}
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

// If a fault persists, attempts go on until the deadline is near. The error names the fault, not only the deadline.
func TestOutage(t *testing.T) {
	tests := []struct {
		name       string
		outcomes   []outcome
		wantText   string
		wantStored string
	}{
		{
			name:     "unknown host",
			outcomes: []outcome{{fault: fail(&net.DNSError{Err: "no such host", IsNotFound: true})}},
			wantText: "no such host",
		},
		{name: "no answer", outcomes: []outcome{{fault: noAnswer}}, wantText: "deadline exceeded"},
		{name: "internal error", outcomes: []outcome{{fault: internalError}}, wantText: "InternalServerError"},
		{name: "throttling", outcomes: []outcome{{fault: throttling}}, wantText: "Throttling"},
		{name: "slow throttling", outcomes: []outcome{{fault: waitAnd(500*time.Millisecond, throttling)}}, wantText: "Throttling"},
		{
			name: "account limit", outcomes: []outcome{{fault: refuse(400, "RequestLimitExceeded")}},
			wantText: "RequestLimitExceeded",
		},
		{
			name: "lost answer, then none", outcomes: []outcome{{applied: true, fault: brokenConnection}, {fault: noAnswer}},
			wantText: "deadline exceeded", wantStored: aliceFern,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 20 { // because delays are random
				synctest.Test(t, func(t *testing.T) {
					fake := newFake(test.outcomes...)
					start := time.Now()
					err := create(t, fake, "alice")
					if !errors.Is(err, plant.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), test.wantText) {
						t.Errorf("Create = %v, want %v with %q", err, plant.ErrUnavailable, test.wantText)
					}
					if got := fake.item("1"); got != test.wantStored {
						t.Errorf("stored %s, want %s", got, test.wantStored)
					}
					n := len(fake.attempts)
					last := fake.attempts[n-1].Sub(start)
					if n < 3 || n > 25 || last < 1900*time.Millisecond || last > 2600*time.Millisecond {
						t.Errorf("%d attempts, the last after %v, want 3 to 25, and the last 100 to 800 ms before the deadline", n, last)
					}
				})
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

// The delays between attempts are random, up to 25 ms, 50 ms and so on, but at most 1 s.
func TestDelays(t *testing.T) {
	limits := []time.Duration{25, 50, 100, 200, 400, 800, 1000, 1000} // ms
	delays := make([][]time.Duration, len(limits))
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			fake := newFake(append(slices.Repeat([]outcome{{fault: internalError}}, len(limits)), answered)...)
			store := newPlants(fake)
			if err := store.Create(t.Context(), plant.Write{}); err != nil {
				t.Fatal(err)
			}
			for i := range limits {
				delays[i] = append(delays[i], fake.attempts[i+1].Sub(fake.attempts[i]))
			}
		}
	})
	for i, limit := range limits {
		limit *= time.Millisecond
		shortest, longest := slices.Min(delays[i]), slices.Max(delays[i])
		if shortest > limit/5 || longest < limit*4/5 || longest > limit {
			t.Errorf("delays of %v to %v, want 0 to %v", shortest, longest, limit)
		}
	}
}

// A successful retry gets its cost back. In a long outage, the client's retry quota runs out. Then a call makes one
// attempt until enough calls succeed.
func TestQuota(t *testing.T) {
	const cost = 14 // of a retry, out of a quota of 500
	synctest.Test(t, func(t *testing.T) {
		fake := newFake()
		store := newPlants(fake)
		var id int64
		var err error
		attempts := func(outcomes ...outcome) int { // to create a new plant
			id++
			fake.attempts, fake.outcomes = nil, outcomes
			err = store.Create(t.Context(), plant.Write{NewPlant: plant.NewPlant{ID: id}})
			return len(fake.attempts)
		}
		failed := outcome{fault: internalError}
		for _, first := range []outcome{failed, {applied: true, fault: internalError}} {
			for range 200 {
				if got := attempts(first, answered); got != 2 {
					t.Fatalf("%d attempts if the first fails, want 2", got)
				}
			}
		}
		if first, second := attempts(failed), attempts(failed); first != 1+500/cost || second != 1 {
			t.Errorf("%d attempts, then %d in an outage, want %d, then 1", first, second, 1+500/cost)
		}
		if !errors.Is(err, plant.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "InternalServerError") {
			t.Errorf("Create = %v in an outage, want %v with the cause", err, plant.ErrUnavailable)
		}
		for range cost {
			attempts(answered)
		}
		if got := attempts(failed); got != 2 {
			t.Errorf("%d attempts after the outage, want 2", got)
		}
	})
}

// If DynamoDB rejects a signature because the clock is wrong, the next attempt has the right time.
func TestClockSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(outcome{fault: func(r *http.Request) (*http.Response, error) {
			now := time.Now().Add(time.Hour).UTC()
			signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
			if err == nil && now.Sub(signed) < 5*time.Minute {
				return answer(200, "{}")(r)
			}
			response, err := refuse(400, "InvalidSignatureException")(r)
			response.Header.Set("Date", now.Format(http.TimeFormat))
			return response, err
		}})
		if err := create(t, fake, "alice"); err != nil || len(fake.attempts) != 2 {
			t.Errorf("Create = %v after %d attempts, want nil after 2", err, len(fake.attempts))
		}
	})
}

// A call ends when its context is canceled, even while it waits for the next attempt. A later call makes no attempt.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(2*time.Second, cancel)
		fake := newFake(outcome{fault: internalError})
		store := newPlants(fake)
		err := store.Create(ctx, plant.Write{})
		if took := time.Since(start); !errors.Is(err, plant.ErrUnavailable) || took != 2*time.Second {
			t.Errorf("Create = %v after %v, want %v after 2s", err, took, plant.ErrUnavailable)
		}
		before := len(fake.attempts)
		err = store.Create(ctx, plant.Write{})
		if n := len(fake.attempts) - before; !errors.Is(err, plant.ErrUnavailable) || n != 0 {
			t.Errorf("Create = %v after %d attempts, want %v after none", err, n, plant.ErrUnavailable)
		}
	})
}

func TestWithoutCredentials(t *testing.T) {
	expired := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("the credentials have expired")
	})
	store := &Plants{Client: NewClient(aws.Config{Region: "us-east-1", Credentials: expired}), Table: "plants"}
	if err := store.Create(t.Context(), plant.Write{}); !errors.Is(contractError(err), errOther) {
		t.Errorf("Create = %v, want an error that is not %v", err, plant.ErrUnavailable)
	}
}

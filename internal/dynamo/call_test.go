package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// fern is the write of these tests.
var fern = plant.Write{
	NewPlant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "fern", Tag: new("")}},
	WriteKey: plant.NewWriteKey("alice", "k"),
}

// What a put finds under its id, if the condition fails.
var (
	sameRequest  = exists(fern.WriteKey, "fern")
	otherPlant   = exists(fern.WriteKey, "ficus")
	otherRequest = exists(plant.NewWriteKey("bob", "k"), "fern")
	onlyID       = conditionFailed(`{"id": {"N": "1"}}`)
	unreadable   = strings.Replace(sameRequest, "2026-03-01T11:00:00Z", "yesterday", 1)
)

// exists is the body of the answer to a put whose id has a plant.
func exists(key, name string) string {
	return conditionFailed(fmt.Sprintf(`{
		"id": {"N": "1"}, "name": {"S": %q}, "tag": {"S": ""}, "write_key": {"S": %q},
		"created_at": {"S": "2026-03-01T11:00:00Z"}, "created_by": {"S": "alice"}
	}`, name, key))
}

// conditionFailed is the body of the answer to a put whose id has this item.
func conditionFailed(stored string) string {
	return `{"__type": "` + namespace + `ConditionalCheckFailedException", "Item": ` + stored + `}`
}

// isOnly reports whether err is want, and no other error that the two stores promise. errOther stands
// for every error that they do not promise.
func isOnly(err, want error) bool {
	for _, promised := range []error{
		plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable,
		token.ErrNotFound, token.ErrUnavailable,
	} {
		if errors.Is(err, promised) != errors.Is(want, promised) {
			return false
		}
	}
	return (err == nil) == (want == nil)
}

var errOther = errors.New("another error")

// create creates the fern in a fake DynamoDB, which does what attempts says, one after the other. It returns the
// number of attempts. TestPlantItem checks the condition of the put.
func create(t *testing.T, timeout time.Duration, attempts ...http.HandlerFunc) (n int, err error) {
	t.Helper()
	fake := newFake(t, attempts...)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	err = fake.plants().Create(ctx, fern)
	return len(fake.requests), err
}

// The put is repeated until its outcome is known: as often as there are attempts in the row. The suite of
// all stores, in test/storetest, checks the outcomes of a single attempt.
func TestCreateByAttempts(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     error
	}{
		{name: "another program stored nothing but an id", attempts: do(refuseWith(onlyID)), want: plant.ErrExists},
		{name: "another program stored an item", attempts: do(refuseWith(unreadable)), want: plant.ErrExists},

		// No attempt before the last was applied, or may have been.
		{name: "four failures", attempts: do(fail, fail, fail, fail, succeed)},
		{name: "throttling", attempts: do(throttle, succeed)},
		{name: "a conflict with a transaction", attempts: do(refuse("TransactionConflictException"), succeed)},
		{name: "a conflict with another region", attempts: do(refuse("ReplicatedWriteConflictException"), succeed)},
		{name: "a proxy that waited too long", attempts: do(answer(408, ""), succeed)},
		{name: "a refusal that is no JSON", attempts: do(answer(400, "<html>"), succeed)},
		{name: "a refusal that names no error of DynamoDB's", attempts: do(answer(429, `{"code":"too_many"}`), succeed)},
		{name: "a refusal that is cut", attempts: do(begin(400, hangUp), succeed)},

		// The first attempt was applied, but its answer was lost.
		{name: "a lost answer", attempts: do(hangUp, refuseWith(sameRequest))},
		{name: "no answer in time", attempts: do(stall, refuseWith(sameRequest))},
		{name: "a cut answer", attempts: do(begin(200, hangUp), refuseWith(sameRequest))},
		{name: "an answer that stalls", attempts: do(begin(200, stall), refuseWith(sameRequest))},
		{name: "an answer that is no JSON", attempts: do(answer(200, "#"), refuseWith(sameRequest))},
		{name: "a lost answer, and another's plant", attempts: do(hangUp, refuseWith(otherRequest)), want: plant.ErrExists},
		{name: "a lost answer, and another plant", attempts: do(hangUp, refuseWith(otherPlant)), want: plant.ErrKeyReused},

		// Other servers of the API name an error without a namespace. They send no checksum, nor does
		// the fake.
		{name: "another server finds the plant", attempts: do(refuseWith(strings.Replace(sameRequest, namespace, "", 1)))},
		{name: "another server refuses", attempts: do(refuseWith(`{"__type":"AccessDeniedException"}`)), want: errOther},

		// An operator must change something, whatever came before.
		{name: "throttling, then a refusal", attempts: do(throttle, deny), want: errOther},
		{name: "a failure named as a refusal, then a refusal", attempts: do(answer(500, errorBody("XException")), deny), want: errOther},
		{name: "a lost answer, then a refusal", attempts: do(hangUp, noTable), want: errOther},
		{name: "the id exists, without the item", attempts: do(refuse("ConditionalCheckFailedException")), want: plant.ErrUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := create(t, time.Minute, test.attempts...) // it ends by itself
				if !isOnly(err, test.want) {
					t.Errorf("Create = %v, want %v", err, test.want)
				}
				if n != len(test.attempts) {
					t.Errorf("Create made %d attempts, want %d", n, len(test.attempts))
				}
			})
		})
	}
}

// A put without an answer ends with ErrUnavailable, at the deadline or a little earlier. For the log, the error says what
// failed.
func TestCreateByDeadline(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		cause    string
	}{
		{name: "every attempt fails", attempts: do(fail), cause: "InternalServerError"},
		{name: "no attempt is answered", attempts: do(stall), cause: "context deadline exceeded"},
		{name: "every attempt is over a limit of the account", attempts: do(limit), cause: "RequestLimit"},
		{name: "a lost answer, then no server", attempts: do(hangUp, noServer), cause: "no such host"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				n, err := create(t, 2700*time.Millisecond, test.attempts...)
				if !isOnly(err, plant.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), test.cause) {
					t.Errorf("Create = %v after %d attempts, want %v with the cause %q", err, n, plant.ErrUnavailable, test.cause)
				}
				if took := time.Since(start); took > 2700*time.Millisecond || took < 2700*time.Millisecond/2 {
					t.Errorf("Create took %v, want about %v", took, 2700*time.Millisecond)
				}
			})
		})
	}
}

// No attempt is cut off by the deadline, if DynamoDB answers within 90 ms.
func TestSlowRefusals(t *testing.T) {
	slowly := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(90 * time.Millisecond)
		throttle(w, r)
	}
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			if n, err := create(t, 2700*time.Millisecond, slowly); !strings.Contains(fmt.Sprint(err), "Throttling") {
				t.Fatalf("Create = %v after %d attempts, want the refusal", err, n)
			}
		})
	}
}

// A call with an ended context makes no attempt. A later call may succeed. The error says how the context ended.
func TestEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t, succeed)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := fake.plants().Create(ctx, fern)
		if n := len(fake.requests); n != 0 || !isOnly(err, plant.ErrUnavailable) {
			t.Errorf("Create = %v after %d attempts, want %v after none", err, n, plant.ErrUnavailable)
		}
		if want := "context canceled"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Create = %v, want %q in it", err, want)
		}
	})
}

// An input that the SDK refuses is no attempt.
func TestMalformedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t, succeed)
		_, err := call(t.Context(), fake.client(), (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{}, errOther)
		if n := len(fake.requests); n != 0 || !strings.Contains(err.Error(), "missing required field") {
			t.Errorf("PutItem = %v after %d attempts, want the fields that are missing, after none", err, n)
		}
	})
}

// A connection that the SDK opens for credentials is not one to DynamoDB. Without credentials, no attempt can have
// been applied.
func TestCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t, succeed)
		options := fake.client().Options()
		options.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
			request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://fake/0", http.NoBody)
			answer, err := fake.http.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			return aws.Credentials{}, errors.New("the credentials have expired")
		})
		plants := &Plants{Client: dynamodb.New(options), Table: "plants"}
		ctx, cancel := context.WithTimeout(t.Context(), 2700*time.Millisecond)
		defer cancel()
		if err := plants.Create(ctx, fern); !isOnly(err, errOther) {
			t.Errorf("Create without credentials = %v, want %v", err, errOther)
		}
	})
}

// The retry quota of a client is 500 units, and a retry takes five. A retry that succeeds gives back what it took, and
// each success adds one. A call that may not retry makes one attempt.
func TestQuota(t *testing.T) {
	afterOutage := func(attempts ...http.HandlerFunc) []http.HandlerFunc {
		return slices.Concat(slices.Repeat(do(fail), 101), attempts) // one call, which takes the whole quota
	}
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     []error // of one call after the other
	}{
		{name: "a call late in an outage", attempts: afterOutage(fail, fail), want: []error{plant.ErrUnavailable, plant.ErrUnavailable, plant.ErrUnavailable}},
		{name: "a call that is throttled until the quota is used up", attempts: slices.Repeat(do(throttle), 101), want: []error{plant.ErrUnavailable}},
		{name: "a call after an outage", attempts: afterOutage(succeed), want: []error{plant.ErrUnavailable, nil}},
		{
			name:     "four successes after an outage are no retry",
			attempts: afterOutage(succeed, succeed, succeed, succeed, fail), want: []error{plant.ErrUnavailable, nil, nil, nil, nil, plant.ErrUnavailable},
		},
		{
			name:     "five successes after an outage are one retry",
			attempts: afterOutage(succeed, succeed, succeed, succeed, succeed, fail, succeed), want: []error{plant.ErrUnavailable, nil, nil, nil, nil, nil, nil},
		},
		{name: "more retries that succeed than the quota has", attempts: slices.Repeat(do(fail, succeed), 150), want: make([]error, 150)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				store := fake.plants()
				for i, want := range test.want {
					if err := store.Create(t.Context(), fern); !isOnly(err, want) {
						t.Fatalf("call %d: Create = %v, want %v", i+1, err, want)
					}
				}
				if got := len(fake.requests); got != len(test.attempts) {
					t.Errorf("Create made %d attempts, want %d", got, len(test.attempts))
				}
			})
		})
	}
}

// If DynamoDB refuses a signature because the function's clock is wrong, the next attempt is signed with the time
// of DynamoDB.
func TestWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := time.Now().Add(time.Hour).UTC()
		fake := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", right.Format(http.TimeFormat))
			refuse("InvalidSignatureException")(w, r)
		}, succeed)
		if err := fake.plants().Create(t.Context(), fern); err != nil {
			t.Fatalf("Create = %v, want nil", err)
		}
		signed, err := time.Parse("20060102T150405Z", fake.requests[1].Header.Get("X-Amz-Date"))
		if err != nil || signed.Sub(right).Abs() > time.Minute {
			t.Errorf("the second attempt is signed at %v, %v, want the time of DynamoDB, %v", signed, err, right)
		}
	})
}

// A delay is random, up to a bound that doubles with each retry until it is a second.
func TestDelay(t *testing.T) {
	tests := []struct {
		name  string
		retry int
		bound time.Duration
	}{
		{"the first", 1, 25 * time.Millisecond},
		{"the third", 3, 100 * time.Millisecond},
		{"a late one", 99, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			shortest, longest := test.bound, time.Duration(0)
			for range 1000 {
				got := delay(test.retry)
				if got < 0 || got > test.bound {
					t.Fatalf("delay(%d) = %v, want 0 to %v", test.retry, got, test.bound)
				}
				shortest = min(shortest, got)
				longest = max(longest, got)
			}
			if shortest > test.bound/4 || longest < test.bound*3/4 {
				t.Errorf("delay(%d) = %v to %v in 1000 calls, want 0 to %v", test.retry, shortest, longest, test.bound)
			}
		})
	}
}

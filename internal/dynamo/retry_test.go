package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"plantstore/internal/plant"
)

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
		"expired signature":       expiredSignature,
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
			name: "wrong signature", outcomes: []outcome{{fault: refuse(400, "InvalidSignatureException")}},
			want: errOther, wantText: "InvalidSignature",
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

// If a fault persists, attempts go on until the deadline. The error names the fault, and then the deadline.
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
		{
			name:     "internal error that looks like a failed condition",
			outcomes: []outcome{{fault: answer(503, `{"__type": "ConditionalCheckFailedException", "Item": `+bobFern+`}`)}},
			wantText: "ConditionalCheckFailed",
		},
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
					cause, end, _ := strings.Cut(fmt.Sprint(err), "; ")
					if !errors.Is(err, plant.ErrUnavailable) || !strings.Contains(cause, test.wantText) ||
						end != "context deadline exceeded" {
						t.Errorf("Create = %v, want %v with %q and the deadline", err, plant.ErrUnavailable, test.wantText)
					}
					if got := fake.item("1"); got != test.wantStored {
						t.Errorf("stored %s, want %s", got, test.wantStored)
					}
					if n, took := len(fake.attempts), time.Since(start); n < 3 || n > 25 || took != 2700*time.Millisecond {
						t.Errorf("%d attempts in %v, want 3 to 25 in 2.7s", n, took)
					}
				})
			}
		})
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
		text := fmt.Sprint(err)
		if !errors.Is(err, plant.ErrUnavailable) || !strings.Contains(text, "InternalServerError") || !strings.Contains(text, "quota") {
			t.Errorf("Create = %v in an outage, want %v with the cause and the quota", err, plant.ErrUnavailable)
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

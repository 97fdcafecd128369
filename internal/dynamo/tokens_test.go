package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/token"
)

// item is a token with this id, as DynamoDB answers it. It expires at a Unix time.
func item(id string, expires int64) string {
	return fmt.Sprintf(`{"id": {"S": %q}, "digest": {"S": "d"}, "subject": {"S": "s"},
		"created_at": {"S": "2026-03-01T12:00:00Z"}, "expires_at": {"N": "%d"}}`, id, expires)
}

// found is the answer to a GetItem that found this item.
func found(item string) http.HandlerFunc { return answer(http.StatusOK, `{"Item": `+item+`}`) }

// The item of a token is read consistently, until the outcome is known. An item that holds no token, or
// a time that JSON cannot express, is an error.
func TestFindByAttempts(t *testing.T) {
	const year0, year10000 = -62167219200, 253402300800
	issued := found(item("i", 1_800_000_000))
	bare := found(`{"id": {"S": "i"}}`)
	timeless := found(`{"id": {"S": "i"}, "digest": {"S": "d"}, "expires_at": {"S": "soon"}}`)
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		want     error              // nil for the token
	}{
		{name: "the token", attempts: do(issued)},
		{name: "the token after a failure", attempts: do(fail, issued)},
		{name: "the token after two attempts that are not answered", attempts: do(stall, stall, issued)},
		{name: "no token", attempts: do(succeed), want: token.ErrNotFound},
		{name: "a refusal", attempts: do(deny), want: errOther},

		{name: "no server", attempts: do(noServer), want: token.ErrUnavailable},
		{name: "every attempt fails", attempts: do(fail), want: token.ErrUnavailable},
		{name: "every attempt is throttled", attempts: do(throttle), want: token.ErrUnavailable},
		{name: "no attempt is answered", attempts: do(stall), want: token.ErrUnavailable},

		{name: "nothing but an id", attempts: do(bare), want: errOther},
		{name: "a word for the time of expiry", attempts: do(timeless), want: errOther},
		{name: "a token of the year 0", attempts: do(found(item("i", year0)))},
		{name: "a token of the year -1", attempts: do(found(item("i", year0-1))), want: errOther},
		{name: "a token of the year 9999", attempts: do(found(item("i", year10000-1)))},
		{name: "a token of the year 10000", attempts: do(found(item("i", year10000))), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				ctx, cancel := context.WithTimeout(t.Context(), budget.AuthorizerWait)
				defer cancel()
				start := time.Now()
				got, err := (&Tokens{Client: fake.client(), Table: "tokens"}).Find(ctx, "i")
				if !isOnly(err, test.want) {
					t.Errorf("Find = %+v, %v, want the error %v", got, err, test.want)
				}
				if err == nil && got.Subject != "s" {
					t.Errorf("Find = %+v, want the token", got)
				}
				if took := time.Since(start); took > budget.AuthorizerWait {
					t.Errorf("Find took %v, want %v at most", took, budget.AuthorizerWait)
				}
				for _, r := range fake.received() {
					if !strings.Contains(r.body, `"ConsistentRead":true`) {
						t.Errorf("Find sends %s, want a consistent read", r.body)
					}
				}
			})
		})
	}
}

// Pages of a scan.
var (
	firstPage = answer(200, `{"LastEvaluatedKey": {"id": {"S": "first"}}, "Items": [`+item("first", 1_800_000_000)+`]}`)
	lastPage  = answer(200, `{"Items": [`+item("last", 1_800_000_000)+`]}`)
	oddPage   = answer(200, `{"Items": [{"id": {"S": "bare"}}, `+item("last", 1_800_000_000)+`]}`)
)

// pages is a scan of two pages, the second from where the first ends.
func pages(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the fake has read it
	if strings.Contains(string(body), `"ExclusiveStartKey":{"id":{"S":"first"}}`) {
		lastPage(w, r)
		return
	}
	firstPage(w, r)
}

// Each page is read consistently, and has a limit and a deadline. The list has none: a table may be
// larger than one deadline allows.
func TestListReadsEachPage(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		read     int      // tokens, 0 for all
		want     []string // ids
		err      error    // in the list
		took     time.Duration
	}{
		{name: "one page", attempts: do(lastPage), want: []string{"last"}},
		{name: "two pages", attempts: do(pages, pages), want: []string{"first", "last"}},
		{name: "two pages, and a reader of one token", attempts: do(pages), read: 1, want: []string{"first"}},
		{name: "a page at the second attempt", attempts: do(firstPage, fail, lastPage), want: []string{"first", "last"}},
		{name: "a page without tokens", attempts: do(succeed)},
		{name: "an item that is no token", attempts: do(oddPage), want: []string{"last"}, err: errOther},
		{name: "a page that is refused", attempts: do(firstPage, deny), want: []string{"first"}, err: errOther},
		{
			name:     "two pages, each within its deadline",
			attempts: do(after(6*time.Second, firstPage), after(6*time.Second, lastPage)),
			want:     []string{"first", "last"},
			took:     12 * time.Second,
		},
		{
			name:     "a page that misses its deadline",
			attempts: do(after(6*time.Second, firstPage), stall),
			want:     []string{"first"},
			err:      token.ErrUnavailable,
			took:     6*time.Second + pageTimeout,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				// The client of a command: an attempt may take longer than a function's.
				client := fake.connect(NewClient(configuration("us-east-1", "http://fake"), time.Minute))
				start := time.Now()
				var got []string
				var failed error
				for listed, err := range (&Tokens{Client: client, Table: "tokens"}).List(t.Context()) {
					if err != nil {
						failed = err
						continue
					}
					got = append(got, listed.ID)
					if len(got) == test.read {
						break
					}
				}
				for _, r := range fake.received() {
					if !strings.Contains(r.body, `"ConsistentRead":true`) {
						t.Errorf("List sends %s, want a consistent read", r.body)
					}
					if !strings.Contains(r.body, `"Limit":4000`) {
						t.Errorf("List sends %s, want the limit of a page", r.body)
					}
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("List = %q, want %q", got, test.want)
				}
				if !isOnly(failed, test.err) {
					t.Errorf("List has the error %v, want %v", failed, test.err)
				}
				if n := len(fake.received()); n != len(test.attempts) {
					t.Errorf("List sent %d requests, want %d", n, len(test.attempts))
				}
				if took := time.Since(start).Round(time.Second); took != test.took {
					t.Errorf("List took %v, want %v", took, test.took)
				}
			})
		})
	}
}

// A token is stored or revoked for certain only if the error says so: ErrUnavailable, whatever is
// refused afterwards.
func TestUncertainChanges(t *testing.T) {
	issued := token.Token{ID: "i", Digest: "d", Subject: "s", CreatedAt: time.Unix(0, 0), ExpiresAt: time.Unix(1, 0)}
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     error
	}{
		{name: "a lost answer, then a refusal", attempts: do(hangUp, deny), want: token.ErrUnavailable},
		{name: "throttling, then a refusal", attempts: do(throttle, deny), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &Tokens{Client: newFake(t, test.attempts...).client(), Table: "tokens"}
				if err := store.Add(t.Context(), issued); !isOnly(err, test.want) {
					t.Errorf("Add = %v, want %v", err, test.want)
				}
				store = &Tokens{Client: newFake(t, test.attempts...).client(), Table: "tokens"}
				if err := store.Revoke(t.Context(), "i"); !isOnly(err, test.want) {
					t.Errorf("Revoke = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// A list that ends with its context says so: it is not the whole list.
func TestListOfAnEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store := &Tokens{Client: newFake(t, pages).client(), Table: "tokens"}
		var failed error
		for _, err := range store.List(ctx) {
			cancel()
			failed = err
		}
		if !errors.Is(failed, token.ErrUnavailable) {
			t.Errorf("List ends with %v, want %v", failed, token.ErrUnavailable)
		}
	})
}

// A revocation is one request, whose only condition is that there is an item with this id. The suite of
// all stores, in test/storetest, checks what it does.
func TestRevokeIsOneRequest(t *testing.T) {
	tests := []struct {
		name    string
		attempt http.HandlerFunc
		want    error
	}{
		{name: "an item with this id", attempt: succeed},
		{name: "no item with this id", attempt: conditionFails, want: token.ErrNotFound},
		{name: "a refusal", attempt: deny, want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempt)
				err := (&Tokens{Client: fake.client(), Table: "tokens"}).Revoke(t.Context(), "i")
				if !isOnly(err, test.want) {
					t.Errorf("Revoke = %v, want %v", err, test.want)
				}
				requests := fake.received()
				if len(requests) != 1 {
					t.Fatalf("Revoke sent %d requests, want 1", len(requests))
				}
				if !strings.Contains(requests[0].body, `"attribute_exists(id)"`) {
					t.Errorf("Revoke sent %s, want the condition that there is an item, and no other", requests[0].body)
				}
			})
		})
	}
}

// The attributes of a token's item are fixed: other programs read them.
func TestTokenItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t, succeed)
		issued := token.Token{
			ID:        "i",
			Digest:    "d",
			Subject:   "s",
			CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			ExpiresAt: time.Unix(1_800_000_000, 0),
		}
		if err := (&Tokens{Client: fake.client(), Table: "tokens"}).Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
		want := attributes{
			"id": {"S": "i"}, "digest": {"S": "d"}, "subject": {"S": "s"},
			"created_at": {"S": "2026-03-01T12:00:00Z"}, "expires_at": {"N": "1800000000"},
		}
		if got := put(t, fake); !reflect.DeepEqual(got, want) {
			t.Errorf("Add puts %v, want %v", got, want)
		}
	})
}

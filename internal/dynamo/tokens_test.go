package dynamo

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

// item is a token, as DynamoDB answers it. It expires in the last second of the year 9999.
const item = `{"id": {"S": "i"}, "digest": {"S": "d"}, "subject": {"S": "s"},
	"created_at": {"S": "2026-03-01T12:00:00Z"}, "expires_at": {"N": "253402300799"}}`

// found is the answer to a GetItem that found this item.
func found(stored string) http.HandlerFunc { return answer(http.StatusOK, `{"Item": `+stored+`}`) }

// The item of a token is read consistently, and the read is repeated until the outcome is known. An item that
// holds no token is an error. The names of its attributes are fixed: other programs read them. The suite of all
// stores checks that what is written can be read.
//
// A token is valid without the attribute revoked, or with false. With a value of another type, the item holds no token.
func TestFind(t *testing.T) {
	with := func(attributes string) []http.HandlerFunc {
		return do(found(strings.TrimSuffix(item, "}") + ", " + attributes + "}"))
	}
	changed := func(from, to string) []http.HandlerFunc { return do(found(strings.Replace(item, from, to, 1))) }
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		revoked  bool
		want     error // nil for the token
	}{
		{name: "the token after two attempts that are not answered", attempts: do(stall, stall, found(item))},
		{name: "a refusal", attempts: do(deny), want: errOther},
		{name: "every attempt is throttled", attempts: do(throttle), want: token.ErrUnavailable},
		{name: "no attempt is answered", attempts: do(stall), want: token.ErrUnavailable},

		{name: "nothing but an id", attempts: do(found(`{"id": {"S": "i"}}`)), want: errOther},
		{name: "no subject", attempts: changed(`"subject": {"S": "s"},`, ""), want: errOther},
		{name: "no digest", attempts: changed(`"digest": {"S": "d"},`, ""), want: errOther},
		{name: "a word for the time of expiry", attempts: changed(`{"N": "253402300799"}`, `{"S": "soon"}`), want: errOther},

		{name: "no attribute of revocation", attempts: with(`"note": {"S": "n"}`)},
		{name: "revoked is false", attempts: with(`"revoked": {"BOOL": false}`)},
		{name: "revoked is true", attempts: with(`"revoked": {"BOOL": true}`), revoked: true},
		{name: "revoked is a word", attempts: with(`"revoked": {"S": "true"}`), want: errOther},
		{name: "revoked is a number", attempts: with(`"revoked": {"N": "1"}`), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				ctx, cancel := context.WithTimeout(t.Context(), 1700*time.Millisecond)
				defer cancel()
				got, err := fake.tokens().Find(ctx, "i")
				if !isOnly(err, test.want) {
					t.Errorf("Find = %+v, %v, want the error %v", got, err, test.want)
				}
				want := token.Token{
					ID:        "i",
					Digest:    "d",
					Subject:   "s",
					CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
					ExpiresAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
					Revoked:   test.revoked,
				}
				if err == nil && got != want {
					t.Errorf("Find = %+v, want %+v", got, want)
				}
				for _, r := range fake.requests {
					if !strings.Contains(r.body, `"ConsistentRead":true`) {
						t.Errorf("Find sends %s, want a consistent read", r.body)
					}
				}
			})
		})
	}
}

// firstPage is the first of two pages of a list.
var firstPage = answer(200, `{"LastEvaluatedKey": {"id": {"S": "i"}}, "Items": [`+item+`]}`)

// Each page is read consistently. The list has every token that can be read.
func TestListReadsEachPage(t *testing.T) {
	mixedPage := answer(200, `{"LastEvaluatedKey": {"id": {"S": "i"}}, "Items": [{"id": {"S": "bare"}}, `+item+`]}`)
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		want     error
	}{
		{name: "an item that is no token, before a token", attempts: do(mixedPage, succeed), want: errOther},
		{name: "a page at the second attempt", attempts: do(firstPage, fail, succeed)},
		{name: "a page that is refused", attempts: do(firstPage, deny), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				tokens, err := fake.tokens().List(t.Context())
				if len(tokens) != 1 || !isOnly(err, test.want) {
					t.Errorf("List = %+v, %v, want the one token and the error %v", tokens, err, test.want)
				}
				for i, r := range fake.requests {
					if !strings.Contains(r.body, `"ConsistentRead":true`) {
						t.Errorf("List sends %s, want a consistent read", r.body)
					}
					if i > 0 && !strings.Contains(r.body, `"ExclusiveStartKey":{"id":{"S":"i"}}`) {
						t.Errorf("List sends %s for the second page, want the key at which the first one ends", r.body)
					}
				}
			})
		})
	}
}

// Each page has ten seconds, whatever the pages before it took.
func TestListWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(500 * time.Millisecond)
			firstPage(w, r)
		}
		start := time.Now()
		tokens, err := newFake(t, slowly, stall).tokens().List(t.Context())
		if len(tokens) != 1 || !isOnly(err, token.ErrUnavailable) {
			t.Errorf("List = %+v, %v, want the one token and %v", tokens, err, token.ErrUnavailable)
		}
		if took, want := time.Since(start), 10500*time.Millisecond; took < want-time.Second || took > want {
			t.Errorf("List took %v, want at most %v", took, want)
		}
	})
}

// What they send is fixed. The time of expiry is in seconds, because the table's TTL needs that. A token is added on
// one condition, that there is no item with this id, readable or not. A revocation has one condition, that there is
// an item with this id, so it also revokes one that is no readable token.
func TestChanges(t *testing.T) {
	add := func(ctx context.Context, s *Tokens) error {
		return s.Add(ctx, token.Token{ID: "i", ExpiresAt: time.Unix(1_800_000_000, 0)})
	}
	revoke := func(ctx context.Context, s *Tokens) error { return s.Revoke(ctx, "i") }
	exists := refuse("ConditionalCheckFailedException")
	unreadable := refuseWith(conditionFailed(`{"id": {"S": "i"}}`))
	tests := []struct {
		name     string
		change   func(context.Context, *Tokens) error
		attempts []http.HandlerFunc
		want     error
		sent     string // a part of the request
	}{
		{name: "a token that expires", change: add, attempts: do(succeed), sent: `"expires_at":{"N":"1800000000"}`},
		{name: "a new token", change: add, attempts: do(succeed), sent: `"ConditionExpression":"attribute_not_exists(id)"`},
		{name: "a token that may be added", change: add, attempts: do(hangUp, stall), want: token.ErrUnavailable},
		{name: "an id that exists, without its item", change: add, attempts: do(exists), want: token.ErrUnavailable},
		{name: "an id that has an unreadable item", change: add, attempts: do(unreadable), want: errOther},
		{name: "a token without a server", change: add, attempts: do(noServer), want: token.ErrUnavailable},
		{name: "a revocation", change: revoke, attempts: do(succeed), sent: `"ConditionExpression":"attribute_exists(id)"`},
		{name: "a revocation that may be made", change: revoke, attempts: do(hangUp, stall), want: token.ErrUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := test.change(ctx, fake.tokens()); !isOnly(err, test.want) {
					t.Errorf("the change ends with %v, want %v", err, test.want)
				}
				if got := fake.requests[0].body; !strings.Contains(got, test.sent) {
					t.Errorf("the change sends %s, want %s", got, test.sent)
				}
			})
		})
	}
}

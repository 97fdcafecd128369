package dynamo

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/budget"
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
func TestFindByAttempts(t *testing.T) {
	issued := found(item)
	bare := found(`{"id": {"S": "i"}}`)
	timeless := found(strings.Replace(item, `{"N": "253402300799"}`, `{"S": "soon"}`, 1))
	tooLate := found(strings.Replace(item, "253402300799", "253402300800", 1))
	anonymous := found(strings.Replace(item, `"subject": {"S": "s"},`, "", 1))
	undigested := found(strings.Replace(item, `"digest": {"S": "d"},`, "", 1))
	tests := []struct {
		name     string
		attempts []http.HandlerFunc // the last one repeats
		want     error              // nil for the token
	}{
		{name: "the token after two attempts that are not answered", attempts: do(stall, stall, issued)},
		{name: "a refusal", attempts: do(deny), want: errOther},

		{name: "every attempt is throttled", attempts: do(throttle), want: token.ErrUnavailable},
		{name: "no attempt is answered", attempts: do(stall), want: token.ErrUnavailable},

		{name: "nothing but an id", attempts: do(bare), want: errOther},
		{name: "no subject", attempts: do(anonymous), want: errOther},
		{name: "no digest", attempts: do(undigested), want: errOther},
		{name: "a word for the time of expiry", attempts: do(timeless), want: errOther},
		{name: "a time of expiry after the year 9999, such as one in milliseconds", attempts: do(tooLate), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFake(t, test.attempts...)
				ctx, cancel := context.WithTimeout(t.Context(), budget.AuthorizerWait)
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

// A token is valid without the attribute revoked, or with false. Any other value revokes it: somebody may have
// written it by hand. A name that differs in case only makes the item unreadable, so its token is refused.
func TestFindRevoked(t *testing.T) {
	tests := []struct {
		name       string
		attributes string // besides a token's
		revoked    bool
		err        error
	}{
		{name: "no attribute of revocation", attributes: `"note": {"S": "n"}`},
		{name: "false", attributes: `"revoked": {"BOOL": false}`},
		{name: "true", attributes: `"revoked": {"BOOL": true}`, revoked: true},
		{name: "no value", attributes: `"revoked": {"NULL": true}`, revoked: true},
		{name: "a word", attributes: `"revoked": {"S": "true"}`, revoked: true},
		{name: "a number", attributes: `"revoked": {"N": "1"}`, revoked: true},
		{name: "true, and false under another case", attributes: `"revoked": {"BOOL": true}, "Revoked": {"BOOL": false}`, err: errOther},
		{name: "true under another case", attributes: `"REVOKED": {"BOOL": true}`, err: errOther},
		{name: "a digest under another case", attributes: `"Digest": {"S": "another"}`, err: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stored := strings.TrimSuffix(item, "}") + ", " + test.attributes + "}"
				got, err := newFake(t, found(stored)).tokens().Find(t.Context(), "i")
				if got.Revoked != test.revoked || !isOnly(err, test.err) {
					t.Errorf("Find(%s) = %+v, %v, want revoked: %t, the error %v", stored, got, err, test.revoked, test.err)
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
		if took, want := time.Since(start), 10500*time.Millisecond; took != want {
			t.Errorf("List took %v, want %v", took, want)
		}
	})
}

// Add and Revoke return ErrOutcomeUnknown if an attempt may have been applied, even if a later one is
// refused. They return ErrUnavailable if none was.
//
// What they send is fixed. The time of expiry is in seconds, because the table's TTL needs that. A token is added on
// one condition, that there is no item with this id, readable or not. A revocation has one condition, that there is
// an item with this id, so it also revokes one that is no readable token.
func TestUncertainChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issued := token.Token{ID: "i", ExpiresAt: time.Unix(1_800_000_000, 0)}
		adding := newFake(t, hangUp, deny)
		if err := adding.tokens().Add(t.Context(), issued); !isOnly(err, token.ErrOutcomeUnknown) {
			t.Errorf("Add = %v, want %v", err, token.ErrOutcomeUnknown)
		}
		if body := adding.requests[0].body; !strings.Contains(body, `"expires_at":{"N":"1800000000"}`) {
			t.Errorf("Add sends %s, want the seconds of expiry", body)
		}
		if body := adding.requests[0].body; !strings.Contains(body, `"ConditionExpression":"attribute_not_exists(id)"`) {
			t.Errorf("Add sends %s, want the condition that there is no item, and no other", body)
		}
		existing := newFake(t, refuse("ConditionalCheckFailedException"))
		if err := existing.tokens().Add(t.Context(), issued); !isOnly(err, token.ErrOutcomeUnknown) {
			t.Errorf("Add of an id that exists, without its item, = %v, want %v", err, token.ErrOutcomeUnknown)
		}
		unreadable := newFake(t, refuseWith(conditionFailed(`{"id": {"S": "i"}}`)))
		if err := unreadable.tokens().Add(t.Context(), issued); !isOnly(err, errOther) {
			t.Errorf("Add of an id that has an unreadable item = %v, want another error", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := newFake(t, noServer).tokens().Add(ctx, issued); !isOnly(err, token.ErrUnavailable) {
			t.Errorf("Add without a server = %v, want %v", err, token.ErrUnavailable)
		}
		revoking := newFake(t, hangUp, deny)
		if err := revoking.tokens().Revoke(t.Context(), "i"); !isOnly(err, token.ErrOutcomeUnknown) {
			t.Errorf("Revoke = %v, want %v", err, token.ErrOutcomeUnknown)
		}
		if body := revoking.requests[0].body; !strings.Contains(body, `"ConditionExpression":"attribute_exists(id)"`) {
			t.Errorf("Revoke sends %s, want the condition that there is an item, and no other", body)
		}
	})
}

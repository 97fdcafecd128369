package dynamo

import (
	"encoding/json/v2"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/token"
)

// Two pages of a scan, with a token each.
var (
	firstPage = answer(200, `{"LastEvaluatedKey": {"id": {"S": "first"}}, "Items": [{"id": {"S": "first"},
		"digest": {"S": "d"}, "created_at": {"S": "2026-03-01T12:00:00Z"}, "expires_at": {"N": "1800000000"}}]}`)
	lastPage = answer(200, `{"Items": [{"id": {"S": "last"},
		"digest": {"S": "d"}, "created_at": {"S": "2026-03-01T12:00:00Z"}, "expires_at": {"N": "1800000000"}}]}`)
)

func TestListReadsEachPage(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     []string // ids
		err      error    // with which the list ends
	}{
		{name: "one page", attempts: do(lastPage), want: []string{"last"}},
		{name: "two pages", attempts: do(firstPage, lastPage), want: []string{"first", "last"}},
		{name: "a page without tokens", attempts: do(succeed)},
		{name: "a page at the second attempt", attempts: do(firstPage, fail, lastPage), want: []string{"first", "last"}},
		{name: "a page that is refused", attempts: do(firstPage, refuse("AccessDeniedException")), want: []string{"first"}, err: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fake := newFake(t, test.attempts...)
			store := &Tokens{Client: fake.client(), Table: "tokens"}
			var got []string
			var last error
			for found, err := range store.List(t.Context()) {
				last = err
				if err == nil {
					got = append(got, found.ID)
				}
			}
			if !slices.Equal(got, test.want) || !errors.Is(tokenOutcome(last), test.err) {
				t.Errorf("List = %q, %v, want %q, %v", got, last, test.want, test.err)
			}
			if n := len(fake.received()); n != len(test.attempts) {
				t.Errorf("List sent %d requests, want %d", n, len(test.attempts))
			}
		})
	}
}

// Each page is read consistently, has a limit and begins where the one before it ended.
func TestListRequests(t *testing.T) {
	fake := newFake(t, firstPage, lastPage)
	for _, err := range (&Tokens{Client: fake.client(), Table: "tokens"}).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	type scan struct {
		TableName         string
		ConsistentRead    bool
		Limit             int
		ExclusiveStartKey struct {
			ID struct{ S string } `json:"id"`
		}
	}
	from := []string{"", "first"}
	for i, r := range fake.received() {
		var got scan
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatal(err)
		}
		want := scan{TableName: "tokens", ConsistentRead: true, Limit: pageSize}
		want.ExclusiveStartKey.ID.S = from[i]
		if got != want {
			t.Errorf("request %d = %s, want %+v", i, r.body, want)
		}
	}
}

func TestListEndsWithItsReader(t *testing.T) {
	fake := newFake(t, firstPage, lastPage)
	for _, err := range (&Tokens{Client: fake.client(), Table: "tokens"}).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if n := len(fake.received()); n != 1 {
		t.Errorf("List sent %d requests to a reader of one token, want 1", n)
	}
}

// A table may be larger than one deadline allows: each page has its own, and the list has none.
func TestListHasADeadlineForEachPage(t *testing.T) {
	client := newFake(t, firstPage, lastPage).client()
	options := client.Options()
	var deadlines []time.Time
	options.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		deadline, ok := r.Context().Deadline()
		if !ok || time.Until(deadline) > pageTimeout {
			t.Errorf("the deadline of a page is %v, want one in at most %v", deadline, pageTimeout)
		}
		deadlines = append(deadlines, deadline)
		return client.Options().HTTPClient.Do(r)
	})
	for _, err := range (&Tokens{Client: dynamodb.New(options), Table: "tokens"}).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(deadlines) != 2 || !deadlines[1].After(deadlines[0]) {
		t.Errorf("the deadlines of two pages are %v, want a later one for the second", deadlines)
	}
}

// A revocation is one request, whatever the item holds.
func TestRevokeIsOneRequest(t *testing.T) {
	tests := []struct {
		name    string
		attempt http.HandlerFunc
		want    error
	}{
		{name: "a token with this id", attempt: succeed},
		{name: "no item with this id", attempt: refuse("ConditionalCheckFailedException"), want: token.ErrNotFound},
		{name: "a refusal", attempt: refuse("AccessDeniedException"), want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fake := newFake(t, test.attempt)
			err := (&Tokens{Client: fake.client(), Table: "tokens"}).Revoke(t.Context(), "i")
			if !errors.Is(tokenOutcome(err), test.want) || len(fake.received()) != 1 {
				t.Errorf("Revoke = %v after %d requests, want %v after 1", err, len(fake.received()), test.want)
			}
		})
	}
}

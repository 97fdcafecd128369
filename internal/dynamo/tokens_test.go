package dynamo

import (
	"encoding/json/v2"
	"net/http"
	"strings"
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
		attempts []attempt
		want     string // ids and errors
		err      error
	}{
		{name: "one page", attempts: []attempt{lastPage}, want: "last"},
		{name: "two pages", attempts: []attempt{firstPage, lastPage}, want: "first last"},
		{name: "a page without tokens", attempts: []attempt{created}, want: ""},
		{name: "a page at the second attempt", attempts: []attempt{firstPage, failed, lastPage}, want: "first last"},
		{name: "a page that is refused", attempts: []attempt{firstPage, denied}, want: "first error", err: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, sent := standIn(t, test.attempts...)
			got := []string{}
			var last error
			for found, err := range (&TokenStore{Client: client, Table: "tokens"}).List(t.Context()) {
				if err != nil {
					found.ID = "error"
				}
				got = append(got, found.ID)
				last = err
			}
			if strings.Join(got, " ") != test.want || !is(last, test.err) || len(sent()) != len(test.attempts) {
				t.Errorf("List = %q, %v in %d requests, want %q, %v in %d",
					got, last, len(sent()), test.want, test.err, len(test.attempts))
			}
		})
	}
}

// Each page is read consistently, has a limit and begins where the one before it ended.
func TestListRequests(t *testing.T) {
	client, sent := standIn(t, firstPage, lastPage)
	for _, err := range (&TokenStore{Client: client, Table: "tokens"}).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	type request struct {
		TableName         string
		ConsistentRead    bool
		Limit             int
		ExclusiveStartKey struct {
			ID struct{ S string } `json:"id"`
		}
	}
	from := []string{"", "first"}
	for i, r := range sent() {
		var got request
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatal(err)
		}
		want := request{TableName: "tokens", ConsistentRead: true, Limit: pageSize}
		want.ExclusiveStartKey.ID.S = from[i]
		if got != want {
			t.Errorf("request %d = %s, want %+v", i, r.body, want)
		}
	}
}

func TestListEndsWithItsReader(t *testing.T) {
	client, sent := standIn(t, firstPage, lastPage)
	for _, err := range (&TokenStore{Client: client, Table: "tokens"}).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if n := len(sent()); n != 1 {
		t.Errorf("List sent %d requests to a reader of one token, want 1", n)
	}
}

// A table may be larger than one deadline allows: each page has its own, and the list has none.
func TestListHasADeadlineForEachPage(t *testing.T) {
	client, _ := standIn(t, firstPage, lastPage)
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
	for _, err := range (&TokenStore{Client: dynamodb.New(options), Table: "tokens"}).List(t.Context()) {
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
		attempt attempt
		want    error
	}{
		{name: "a token with this id", attempt: created},
		{name: "no item with this id", attempt: refusal(400, "ConditionalCheckFailedException"), want: token.ErrNotFound},
		{name: "a refusal", attempt: denied, want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, sent := standIn(t, test.attempt)
			err := (&TokenStore{Client: client, Table: "tokens"}).Revoke(t.Context(), "i")
			if !is(err, test.want) || len(sent()) != 1 {
				t.Errorf("Revoke = %v after %d requests, want %v after 1", err, len(sent()), test.want)
			}
		})
	}
}

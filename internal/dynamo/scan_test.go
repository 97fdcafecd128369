package dynamo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/token"
)

// A scan of a million tokens reads every page of every segment, and reports its
// progress. Each page has a deadline of its own, and the scan has none.
func TestScanOfAMillionTokens(t *testing.T) {
	const (
		pages    = 25 // a segment
		pageSize = 1_000_000 / segments / pages
	)
	client := scanned(t, func(segment, page int) http.HandlerFunc {
		item := fmt.Sprintf(`{"digest":{"S":"digest-%d-%d"},"created_at":{"S":"2026-03-01T12:00:00Z"}}`, segment, page)
		more := fmt.Sprintf(`,"LastEvaluatedKey":{"digest":{"S":"%d"}}`, page+1)
		if page == pages-1 {
			more = ""
		}
		return answer(200, fmt.Sprintf(`{"ScannedCount":%d,"Items":[%s]%s}`, pageSize, item, more))
	})
	var deadlines sync.Map
	options := client.Options()
	options.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		deadline, ok := r.Context().Deadline()
		if again, _ := deadlines.Swap(deadline, true); again != nil || !ok || time.Until(deadline) > pageTimeout {
			t.Errorf("the deadline of a page is %v, want one of its own in at most %v", deadline, pageTimeout)
		}
		return client.Options().HTTPClient.Do(r)
	})
	read := 0
	progress := func(tokens int) { read = max(read, tokens) }
	store := &TokenStore{Client: dynamodb.New(options), Table: "tokens", Progress: progress}
	tokens, err := store.List(t.Context())
	if err != nil || len(tokens) != segments*pages || read != 1_000_000 {
		t.Errorf("List = %d tokens, %v, after %d, want one of each of %d pages", len(tokens), err, read, segments*pages)
	}
}

// A page that cannot be read ends the scan.
func TestScanThatFails(t *testing.T) {
	client := scanned(t, func(segment, page int) http.HandlerFunc {
		if segment == segments-1 && page == 1 {
			return refuse("AccessDeniedException")
		}
		return answer(200, `{"LastEvaluatedKey":{"digest":{"S":"`+strconv.Itoa(page+1)+`"}}}`)
	})
	store := &TokenStore{Client: client, Table: "tokens"}
	if _, err := store.LookUp(t.Context(), "id"); err == nil || errors.Is(err, token.ErrNotFound) {
		t.Errorf("LookUp = %v, want the error of the page", err)
	}
}

// scanned returns a client of a DynamoDB that answers a Scan with what page
// returns. The key of a page is its number.
func scanned(t *testing.T, page func(segment, number int) http.HandlerFunc) *dynamodb.Client {
	t.Helper()
	return newFake(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Segment           int
			ExclusiveStartKey map[string]map[string]string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		number, _ := strconv.Atoi(in.ExclusiveStartKey["digest"]["S"])
		page(in.Segment, number)(w, r)
	}).client()
}

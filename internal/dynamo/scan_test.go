package dynamo

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/token"
)

// A scan of a million tokens reads every page of every segment, each of which
// takes 20 ms here, and reports its progress.
func TestScanOfAMillionTokens(t *testing.T) {
	const (
		pages    = 25 // a segment
		pageSize = 1_000_000 / segments / pages
	)
	var asked atomic.Int32
	server := scanned(t, func(segment, page int) (items string, more bool) {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
		item := fmt.Sprintf(`{"digest":{"S":"digest-%d-%d"},"id":{"S":"id"},"subject":{"S":"s"},`+
			`"created_at":{"S":"2026-03-01T12:00:00Z"},"expires_at":{"N":"1800000000"}}`, segment, page)
		return fmt.Sprintf(`"ScannedCount":%d,"Items":[%s]`, pageSize, item), page < pages-1
	})
	read := 0
	store := &TokenStore{Client: clientOf(t, "us-east-1", server), Table: "tokens", Progress: func(tokens int) { read = max(read, tokens) }}
	tokens, err := store.List(t.Context())
	if err != nil || len(tokens) != segments*pages || asked.Load() != segments*pages || read != 1_000_000 {
		t.Errorf("List = %d tokens, %v, after %d pages with %d tokens, want one of each of %d pages",
			len(tokens), err, asked.Load(), read, segments*pages)
	}
	if digest, err := store.LookUp(t.Context(), "id"); err != nil || digest == "" {
		t.Errorf("LookUp = %q, %v, want a digest", digest, err)
	}
}

// A page that cannot be read ends the scan.
func TestScanThatFails(t *testing.T) {
	server := scanned(t, func(segment, page int) (items string, more bool) {
		if segment == segments-1 && page == 1 {
			return "refuse", false
		}
		return `"Items":[]`, true
	})
	store := &TokenStore{Client: clientOf(t, "us-east-1", server), Table: "tokens"}
	if _, err := store.LookUp(t.Context(), "id"); err == nil || errors.Is(err, token.ErrNotFound) {
		t.Errorf("LookUp = %v, want the error of the page", err)
	}
}

// scanned returns the URL of a DynamoDB whose Scan answers page by page what
// answer returns.
func scanned(t *testing.T, answerOf func(segment, page int) (items string, more bool)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Segment           int
			ExclusiveStartKey struct {
				Digest struct {
					N int `json:",string"`
				} `json:"digest"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			in.Segment = -1
		}
		page := in.ExclusiveStartKey.Digest.N
		items, more := answerOf(in.Segment, page)
		switch {
		case items == "refuse":
			refused("ValidationException")(w, r)
		case more:
			answer(200, amazonJSON, fmt.Sprintf(`{%s,"LastEvaluatedKey":{"digest":{"N":"%d"}}}`, items, page+1))(w, r)
		default:
			answer(200, amazonJSON, "{"+items+"}")(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

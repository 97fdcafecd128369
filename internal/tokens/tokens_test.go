package tokens

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo/dynamotest"
)

func issue(t *testing.T, subject string, days int) (bearer string, token Token) {
	t.Helper()
	bearer, token, err := Issue(subject, days)
	if err != nil {
		t.Fatal(err)
	}
	return bearer, token
}

func TestIssue(t *testing.T) {
	first, token := issue(t, "alice", 1)
	second, _ := issue(t, strings.Repeat("x", 128), 3650)
	if !IsToken(first) || !IsToken(second) || first == second {
		t.Errorf("the tokens are %s and %s", first, second)
	}
	if left := time.Until(token.ExpiresAt); left < 23*time.Hour || left > 24*time.Hour || token.Digest != Digest(first) {
		t.Errorf("the token to keep is %+v", token)
	}
	for _, subject := range []string{"", "two words", "é", "line\n", strings.Repeat("x", 129)} {
		if _, _, err := Issue(subject, 1); err == nil {
			t.Errorf("a token was issued to %q", subject)
		}
	}
	for _, days := range []int{-1, 0, 3651} {
		if _, _, err := Issue("alice", days); err == nil {
			t.Errorf("a token was issued for %d days", days)
		}
	}
}

func TestVerify(t *testing.T) {
	good, token := issue(t, "alice", 1)
	old, expired := issue(t, "alice", 1)
	expired.ExpiresAt = time.Now()
	endless, withoutExpiry := issue(t, "alice", 1)
	withoutExpiry.ExpiresAt = time.Time{}
	unknown, _ := issue(t, "alice", 1)
	store := Memory{token.Digest: token, expired.Digest: expired, withoutExpiry.Digest: withoutExpiry}
	for _, authorization := range []string{"Bearer " + good, "bearer  " + good} {
		if subject, err := Verify(t.Context(), store, authorization); subject != "alice" || err != nil {
			t.Errorf("Verify(%q) = %q, %v", authorization, subject, err)
		}
	}
	for _, authorization := range []string{
		"", good, "Bearer", "Basic " + good, "Bearer " + good + ",Bearer " + good, "Bearer " + good + "A", "Bearer \t" + good, "Bearer " + good + "\u00a0",
		"Bearer " + strings.ToLower(good), "Bearer " + token.Digest, "Bearer " + unknown, "Bearer " + old, "Bearer " + endless,
	} {
		if _, err := Verify(t.Context(), store, authorization); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(%q) = %v", authorization, err)
		}
	}
	if subject, _ := Verify(t.Context(), store, "Bearer "+old); subject != "alice" {
		t.Errorf("the subject of an expired token is %q", subject)
	}
	if _, err := Verify(t.Context(), nil, "Bearer nonsense"); !errors.Is(err, ErrInvalid) { // a nil store would panic
		t.Errorf("the store was asked for nonsense, and Verify = %v", err)
	}
}

func TestTable(t *testing.T) {
	t.Run("fake", func(t *testing.T) { testTable(t, Table{Client: new(dynamotest.Fake).Client(), Name: "tokens"}) })
	t.Run("DynamoDB Local", func(t *testing.T) {
		client, name := dynamotest.NewTable(t, "digest", types.ScalarAttributeTypeS)
		testTable(t, Table{Client: client, Name: name})
	})
}

func testTable(t *testing.T, table Table) {
	_, late := issue(t, "alice", 2)
	_, early := issue(t, "bob", 1)
	if err := errors.Join(table.Add(t.Context(), late), table.Add(t.Context(), early)); err != nil {
		t.Fatal(err)
	}
	found, err := table.Find(t.Context(), late.Digest)
	if found.ExpiresAt = found.ExpiresAt.UTC(); err != nil || found != late {
		t.Errorf("Find = %v, %v, want %v", found, err, late)
	}
	all, err := table.List(t.Context())
	if err != nil || len(all) != 2 || all[0].Digest != early.Digest || all[1].Digest != late.Digest {
		t.Errorf("List = %v, %v, want %v and %v", all, err, early, late)
	}
	if existed, err := table.Revoke(t.Context(), late.Digest); err != nil || !existed {
		t.Errorf("Revoke = %t, %v", existed, err)
	}
	if _, err := table.Find(t.Context(), late.Digest); !errors.Is(err, ErrInvalid) {
		t.Errorf("a revoked token gives %v", err)
	}
	if existed, err := table.Revoke(t.Context(), late.Digest); err != nil || existed {
		t.Errorf("the second time, Revoke = %t, %v", existed, err)
	}
}

// Other programs read these attributes, and the table deletes by one of them. An item that lacks some is no token, and
// hides none.
func TestItem(t *testing.T) {
	var fake dynamotest.Fake
	created := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	token := Token{Digest: "d", Subject: "alice", CreatedAt: created, ExpiresAt: created.Add(time.Second)}
	if err := (Table{Client: fake.Client(), Name: "tokens"}).Add(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	const want = `{"created_at":{"S":"2026-03-01T12:00:00Z"},"digest":{"S":"d"},"expires_at":{"N":"1772366401"},"subject":{"S":"alice"}}`
	if got := fake.Items["tokens/d"]; got != want {
		t.Errorf("the item is %s, want %s", got, want)
	}
	for _, broken := range []string{strings.Replace(want, "alice", "", 1), strings.Replace(want, `"N":"1772366401"`, `"S":"soon"`, 1)} {
		fake.Items["tokens/d"], fake.Items["tokens/e"] = broken, strings.Replace(want, `"d"`, `"e"`, 1)
		table := Table{Client: fake.Client(), Name: "tokens"}
		if found, err := table.Find(t.Context(), "d"); err == nil {
			t.Errorf("the item %s is the token %v", broken, found)
		}
		all, err := table.List(t.Context())
		if err != nil || len(all) != 2 || all[0] != (Token{Digest: "d"}) || all[1].Subject != "alice" {
			t.Errorf("List = %v, %v", all, err)
		}
	}
}

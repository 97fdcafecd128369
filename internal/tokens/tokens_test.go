package tokens

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo/dynamotest"
)

func issue(t *testing.T, subject string, ttl time.Duration) (bearer string, token Token) {
	t.Helper()
	bearer, token, err := Issue(subject, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return bearer, token
}

func TestIssue(t *testing.T) {
	first, token := issue(t, "alice", time.Hour)
	second, _ := issue(t, "alice", time.Hour)
	if !IsToken(first) || first == second || len(first) != 30 {
		t.Errorf("the tokens are %s and %s", first, second)
	}
	if left := time.Until(token.ExpiresAt); left < 59*time.Minute || left > time.Hour || token.Digest != Digest(first) {
		t.Errorf("the token to keep is %+v", token)
	}
	for _, subject := range []string{"", "two words", "é", "line\n", strings.Repeat("x", 129)} {
		if _, _, err := Issue(subject, time.Hour); err == nil {
			t.Errorf("a token was issued to %q", subject)
		}
	}
	if _, _, err := Issue("alice", -time.Hour); err == nil {
		t.Error("an expired token was issued")
	}
}

func TestVerify(t *testing.T) {
	good, token := issue(t, "alice", time.Hour)
	old, oldToken := issue(t, "alice", time.Hour)
	oldToken.ExpiresAt = time.Now().Add(-time.Second)
	never, neverToken := issue(t, "alice", time.Hour)
	neverToken.ExpiresAt = time.Time{}
	unknown, _ := issue(t, "alice", time.Hour)
	store := Memory{token.Digest: token, oldToken.Digest: oldToken, neverToken.Digest: neverToken}
	for authorization, want := range map[string]bool{
		"Bearer " + good:                     true,
		"bearer  " + good:                    true,
		"":                                   false,
		good:                                 false,
		"Bearer":                             false,
		"Basic " + good:                      false,
		"Bearer " + good + ",Bearer " + good: false,
		"Bearer " + good + "A":               false,
		"Bearer " + strings.ToLower(good):    false,
		"Bearer " + Digest(good):             false,
		"Bearer " + token.Digest:             false,
		"Bearer " + unknown:                  false,
		"Bearer " + old:                      false,
		"Bearer " + never:                    false,
	} {
		subject, err := Verify(t.Context(), store, authorization)
		if (err == nil) != want || want && subject != "alice" || !want && !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(%q) = %q, %v, want %t", authorization, subject, err, want)
		}
	}
	if _, err := Verify(t.Context(), nil, "Bearer nonsense"); err == nil { // a nil store would panic
		t.Error("the store was asked for nonsense")
	}
}

func TestTable(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		var fake dynamotest.Fake
		testTable(t, Table{Client: fake.Client(), Name: "tokens"})
		for digest, item := range map[string]string{
			"no-subject": `{"digest":{"S":"no-subject"},"expires_at":{"N":"99999999999"}}`,
			"no-number":  `{"digest":{"S":"no-number"},"subject":{"S":"alice"},"expires_at":{"S":"soon"}}`,
		} {
			fake.Items["tokens/"+digest] = item
			if found, err := (Table{Client: fake.Client(), Name: "tokens"}).Find(t.Context(), digest); err == nil {
				t.Errorf("the item %s is the token %v", item, found)
			}
		}
	})
	t.Run("DynamoDB Local", func(t *testing.T) {
		client, name := dynamotest.NewTable(t, "digest", types.ScalarAttributeTypeS)
		testTable(t, Table{Client: client, Name: name})
	})
}

func testTable(t *testing.T, table Table) {
	_, late := issue(t, "alice", 2*time.Hour)
	_, early := issue(t, "bob", time.Hour)
	for _, token := range []Token{late, early} {
		if err := table.Add(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	found, err := table.Find(t.Context(), late.Digest)
	found.ExpiresAt = found.ExpiresAt.UTC()
	if err != nil || found != late {
		t.Errorf("Find = %v, %v, want %v", found, err, late)
	}
	all, err := table.List(t.Context())
	for i := range all {
		all[i].ExpiresAt = all[i].ExpiresAt.UTC()
	}
	if want := []Token{early, late}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("List = %v, %v, want %v", all, err, want)
	}
	if err := table.Revoke(t.Context(), late.Digest); err != nil {
		t.Error(err)
	}
	if _, err := table.Find(t.Context(), late.Digest); !errors.Is(err, ErrInvalid) {
		t.Errorf("a revoked token gives %v", err)
	}
	if err := table.Revoke(t.Context(), late.Digest); err == nil {
		t.Error("a token was revoked twice")
	}
}

// Other programs read these attributes, and the table deletes by one of them.
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
}

package dynamo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/storetest"
)

func TestPlants(t *testing.T) {
	t.Parallel()
	storetest.TestPlants(t, func(t *testing.T) plant.Store {
		client, plants, _ := dynamotest.Tables(t)
		return &dynamo.Plants{Client: client, Table: plants}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.TestTokens(t, func(t *testing.T) token.Store {
		client, _, tokens := dynamotest.Tables(t)
		return &dynamo.Tokens{Client: client, Table: tokens}
	})
}

// The attributes of both tables are fixed: others read them.
func TestItems(t *testing.T) {
	t.Parallel()
	client, plants, tokens := dynamotest.Tables(t)
	empty, at := "", time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	key := plant.NewWriteKey("gardener", "k")
	store := &dynamo.Plants{Client: client, Table: plants}
	for id, p := range map[int64]plant.Plant{-7: {Name: "oak", Tag: &empty}, 8: {Name: "elm"}} {
		w := plant.Write{Plant: plant.NewPlant{ID: id, Plant: p}, Key: key, By: "gardener", At: at}
		if err := store.Create(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	issued := token.Token{ID: "i", Digest: "d", Subject: "s", CreatedAt: at.UTC(), ExpiresAt: time.Unix(18e8, 0).UTC()}
	if err := (&dynamo.Tokens{Client: client, Table: tokens}).Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	stamp, ofKey := `{"created_at":"2026-03-01T12:00:00Z",`, `,"write_key":"`+key+`"}`
	for table, want := range map[string][]string{
		plants: {
			stamp + `"created_by":"gardener","id":-7,"name":"oak","tag":""` + ofKey,
			stamp + `"created_by":"gardener","id":8,"name":"elm"` + ofKey,
		},
		tokens: {stamp + `"digest":"d","expires_at":1800000000,"id":"i","subject":"s"}`},
	} {
		out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
		if err != nil || len(out.Items) != len(want) {
			t.Fatalf("Scan of %s: %v, want the items %q", table, err, want)
		}
		for _, item := range out.Items {
			var value map[string]any
			err := attributevalue.UnmarshalMap(item, &value)
			if got, _ := json.Marshal(value); err != nil || !slices.Contains(want, string(got)) {
				t.Errorf("item = %s, %v, want one of %q", got, err, want)
			}
		}
	}
}

// A plant that another tool wrote, with other attributes, is not overwritten.
func TestCreateOnAnItemOfAnother(t *testing.T) {
	t.Parallel()
	client, plants, _ := dynamotest.Tables(t)
	insert(t, client, plants, `{'id': 1, 'created_at': 'yesterday'}`)
	write := plant.Write{Plant: plant.NewPlant{ID: 1}, Key: plant.NewWriteKey("gardener", "k")}
	err := (&dynamo.Plants{Client: client, Table: plants}).Create(t.Context(), write)
	if !errors.Is(err, plant.ErrExists) {
		t.Errorf("Create on an id that another wrote = %v, want %v", err, plant.ErrExists)
	}
}

// An item in the table of tokens that is no token is not found, does not hide a token, and can be revoked.
func TestItemsThatAreNoTokens(t *testing.T) {
	t.Parallel()
	client, _, tokens := dynamotest.Tables(t)
	store := &dynamo.Tokens{Client: client, Table: tokens}
	items := []struct{ name, id, item string }{
		{name: "nothing but an id", id: "bare", item: `{'id': 'bare'}`},
		{name: "no time of expiry", id: "odd", item: `{'id': 'odd', 'digest': 'd', 'expires_at': 'soon'}`},
		{name: "the year 10000", id: "late", item: `{'id': 'late', 'digest': 'd', 'expires_at': 253402300800}`},
		{name: "the year -1", id: "early", item: `{'id': 'early', 'digest': 'd', 'expires_at': -62167219201}`},
	}
	for _, test := range items {
		insert(t, client, tokens, test.item)
	}
	epoch := time.Unix(0, 0).UTC()
	good := []token.Token{ // in the years 0 and 9999
		{ID: "g", Digest: "d", Subject: "s", CreatedAt: epoch, ExpiresAt: time.Unix(-62167219200, 0).UTC()},
		{ID: "h", Digest: "d", Subject: "s", CreatedAt: epoch, ExpiresAt: time.Unix(253402300799, 0).UTC()},
	}
	for _, added := range good {
		if err := store.Add(t.Context(), added); err != nil {
			t.Fatal(err)
		}
	}
	var listed []token.Token
	var unread []string
	for found, err := range store.List(t.Context()) {
		if err != nil {
			unread = append(unread, err.Error())
			continue
		}
		listed = append(listed, found)
	}
	slices.SortFunc(listed, func(a, b token.Token) int { return strings.Compare(a.ID, b.ID) })
	if !slices.Equal(listed, good) || len(unread) != len(items) {
		t.Errorf("List = %+v and the errors %q, want %+v and %d errors", listed, unread, good, len(items))
	}
	for _, test := range items {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(strings.Join(unread, "\n"), strconv.Quote(test.id)) {
				t.Errorf("List has the errors %q, want one that names %s", unread, test.id)
			}
			if got, err := store.Find(t.Context(), test.id); err == nil {
				t.Errorf("Find(%q) = %+v, nil, want an error", test.id, got)
			}
			if err := store.Revoke(t.Context(), test.id); err != nil {
				t.Errorf("Revoke(%q) = %v, want nil", test.id, err)
			}
		})
	}
}

// insert puts an item, in PartiQL, into a table.
func insert(t *testing.T, client *dynamodb.Client, table, item string) {
	t.Helper()
	statement := fmt.Sprintf(`INSERT INTO "%s" VALUE %s`, table, item)
	_, err := client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: &statement})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckTables(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	tests := []struct {
		name, plants, tokens string
		want                 string // part of the error
	}{
		{name: "both tables", plants: plants, tokens: tokens, want: "<nil>"},
		{name: "the tables swapped", plants: tokens, tokens: plants, want: "does not have the key id of type N"},
		{name: "the table of plants twice", plants: plants, tokens: plants, want: "does not have the key id of type S"},
		{name: "no table of plants", plants: "absent", tokens: tokens, want: "does not exist: absent"},
		{name: "no table of tokens", plants: plants, tokens: "absent", want: "does not exist: absent"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := dynamo.CheckTables(t.Context(), client, test.plants, test.tokens)
			if !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("CheckTables(%q, %q) = %v, want %s", test.plants, test.tokens, err, test.want)
			}
			if missing := strings.Contains(test.want, "exist"); errors.Is(err, dynamo.ErrNoTable) != missing {
				t.Errorf("CheckTables(%q, %q) = %v, want ErrNoTable: %t", test.plants, test.tokens, err, missing)
			}
		})
	}
	if err := dynamo.CreateTables(t.Context(), client, tokens, plants); err == nil {
		t.Errorf("CreateTables with the names swapped = nil, want an error")
	}
}

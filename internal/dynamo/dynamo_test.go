package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// The attributes of a plant's item are fixed: others read them.
func TestPlantItems(t *testing.T) {
	t.Parallel()
	client, table, _ := dynamotest.Tables(t)
	store := &dynamo.Plants{Client: client, Table: table}
	key := plant.NewWriteKey("gardener", "k")
	tests := []struct {
		name  string
		plant plant.NewPlant
		want  map[string]any
	}{
		{
			name:  "a plant without a tag",
			plant: plant.NewPlant{ID: 8, Plant: plant.Plant{Name: "elm"}},
			want: map[string]any{
				"id": 8.0, "name": "elm",
				"created_at": "2026-03-01T12:00:00Z", "created_by": "gardener", "write_key": key,
			},
		},
		{
			name:  "a plant with an empty tag",
			plant: plant.NewPlant{ID: -7, Plant: plant.Plant{Name: "oak", Tag: new("")}},
			want: map[string]any{
				"id": -7.0, "name": "oak", "tag": "",
				"created_at": "2026-03-01T12:00:00Z", "created_by": "gardener", "write_key": key,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
			err := store.Create(t.Context(), plant.Write{Plant: test.plant, Key: key, By: "gardener", At: at})
			if err != nil {
				t.Fatal(err)
			}
			id := &types.AttributeValueMemberN{Value: strconv.FormatInt(test.plant.ID, 10)}
			checkItem(t, client, table, id, test.want)
		})
	}
}

// The attributes of a token's item are fixed: others read them.
func TestTokenItem(t *testing.T) {
	t.Parallel()
	client, _, table := dynamotest.Tables(t)
	issued := token.Token{
		ID: "i", Digest: "d", Subject: "s",
		CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		ExpiresAt: time.Unix(1_800_000_000, 0).UTC(),
	}
	store := &dynamo.Tokens{Client: client, Table: table}
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	checkItem(t, client, table, &types.AttributeValueMemberS{Value: "i"}, map[string]any{
		"id": "i", "digest": "d", "subject": "s", "created_at": "2026-03-01T12:00:00Z", "expires_at": 1_800_000_000.0,
	})
}

// checkItem checks the item of table with this id.
func checkItem(t *testing.T, client *dynamodb.Client, table string, id types.AttributeValue, want map[string]any) {
	t.Helper()
	key := map[string]types.AttributeValue{"id": id}
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := attributevalue.UnmarshalMap(out.Item, &got); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("item = %v, want %v", got, want)
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
	older := "older-" + tokens
	createTable(t, client, older, "digest")
	tests := []struct {
		name, plants, tokens string
		want                 string // part of the error
	}{
		{name: "both tables", plants: plants, tokens: tokens, want: "<nil>"},
		{name: "the tables swapped", plants: tokens, tokens: plants, want: "does not have the key id of type N"},
		{name: "the table of plants twice", plants: plants, tokens: plants, want: "does not have the key id of type S"},
		{name: "a table with another key", plants: plants, tokens: older, want: "does not have the key id of type S"},
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

// createTable creates a table with a key of strings, until the test ends.
func createTable(t *testing.T, client *dynamodb.Client, table, key string) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   &table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: &key, AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: &key, KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("by-id"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			t.Error(err)
		}
	})
}

package dynamo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

func TestPlantStore(t *testing.T) {
	t.Parallel()
	storetest.TestPlants(t, func(t *testing.T) plant.Store {
		client, plants, _ := dynamotest.Tables(t)
		return &dynamo.PlantStore{Client: client, Table: plants}
	})
}

func TestTokenStore(t *testing.T) {
	t.Parallel()
	storetest.TestTokens(t, func(t *testing.T) token.Store {
		client, _, tokens := dynamotest.Tables(t)
		return &dynamo.TokenStore{Client: client, Table: tokens}
	})
}

// The attributes of both tables are fixed: others read them.
func TestItems(t *testing.T) {
	t.Parallel()
	client, plants, tokens := dynamotest.Tables(t)
	empty, at := "", time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	key := plant.NewWriteKey("gardener", "k")
	store := &dynamo.PlantStore{Client: client, Table: plants}
	for id, p := range map[int64]plant.Plant{-7: {Name: "oak", Tag: &empty}, 8: {Name: "elm"}} {
		w := plant.Write{Plant: plant.NewPlant{ID: id, Plant: p}, Key: key, By: "gardener", At: at}
		if err := store.Create(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	issued := token.Token{Digest: "d", ID: "i", Subject: "s", CreatedAt: at.UTC(), ExpiresAt: time.Unix(18e8, 0).UTC()}
	if err := (&dynamo.TokenStore{Client: client, Table: tokens}).Add(t.Context(), issued); err != nil {
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

// Items that others wrote, which cannot be read whole, hinder nobody.
func TestItemsOfOthers(t *testing.T) {
	t.Parallel()
	client, plants, tokens := dynamotest.Tables(t)
	for _, put := range []string{
		`INSERT INTO "` + plants + `" VALUE {'id': 1, 'created_at': 'yesterday'}`,
		`INSERT INTO "` + tokens + `" VALUE {'digest': 'odd', 'id': 'odd', 'expires_at': 'soon'}`,
		// In the years 10000 and -1, which JSON cannot express.
		`INSERT INTO "` + tokens + `" VALUE {'digest': 'late', 'id': 'late', 'expires_at': 253402300800}`,
		`INSERT INTO "` + tokens + `" VALUE {'digest': 'early', 'id': 'early', 'expires_at': -62167219201}`,
	} {
		if _, err := client.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{Statement: &put}); err != nil {
			t.Fatal(err)
		}
	}
	write := plant.Write{Plant: plant.NewPlant{ID: 1}, Key: plant.NewWriteKey("gardener", "k")}
	err := (&dynamo.PlantStore{Client: client, Table: plants}).Create(t.Context(), write)
	if !errors.Is(err, plant.ErrExists) {
		t.Errorf("Create on an id that another wrote = %v, want %v", err, plant.ErrExists)
	}
	store := &dynamo.TokenStore{Client: client, Table: tokens}
	epoch := time.Unix(0, 0).UTC()
	good := []token.Token{
		{Digest: "c", ID: "h", Subject: "s", CreatedAt: epoch, ExpiresAt: time.Unix(-62167219200, 0).UTC()},
		{Digest: "d", ID: "i", Subject: "s", CreatedAt: epoch, ExpiresAt: time.Unix(253402300799, 0).UTC()},
	}
	for _, added := range good {
		if err := store.Add(t.Context(), added); err != nil {
			t.Fatal(err)
		}
	}
	got, err := store.List(t.Context())
	slices.SortFunc(got, func(a, b token.Token) int { return strings.Compare(a.ID, b.ID) })
	if err == nil || !slices.Equal(got, good) {
		t.Errorf("List = %+v, %v, want %+v and an error about the others", got, err, good)
	}
	for id, want := range map[string]string{"i": "d", "odd": "odd"} {
		digest, err := store.LookUp(t.Context(), id)
		if err != nil || digest != want {
			t.Errorf("LookUp(%q) = %q, %v, want %q", id, digest, err, want)
		}
		if err := store.Revoke(t.Context(), digest); err != nil {
			t.Errorf("Revoke(%q) = %v, want nil", digest, err)
		}
	}
}

func TestCheckTables(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	for _, test := range []struct{ plants, tokens, want string }{
		{plants, tokens, "<nil>"},
		{tokens, plants, "does not have the key id"},
		{plants, plants, "does not have the key digest"},
		{"absent", tokens, "does not exist: absent"},
		{plants, "absent", "does not exist: absent"},
	} {
		err := dynamo.CheckTables(t.Context(), client, test.plants, test.tokens)
		if !strings.Contains(fmt.Sprint(err), test.want) || errors.Is(err, dynamo.ErrNoTable) != strings.Contains(test.want, "exist") {
			t.Errorf("CheckTables(%q, %q) = %v, want %s", test.plants, test.tokens, err, test.want)
		}
	}
	if err := dynamo.CreateTables(t.Context(), client, tokens, plants); err == nil {
		t.Errorf("CreateTables with the names swapped = nil, want an error")
	}
}

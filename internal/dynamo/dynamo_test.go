package dynamo_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/storetest"
)

func TestPlantStore(t *testing.T) {
	storetest.TestPlants(t, func(t *testing.T) plant.Store {
		client, plants, _ := dynamotest.Tables(t)
		return &dynamo.PlantStore{Client: client, Table: plants}
	})
}

func TestTokenStore(t *testing.T) {
	storetest.TestTokens(t, func(t *testing.T) token.Store {
		client, _, tokens := dynamotest.Tables(t)
		return &dynamo.TokenStore{Client: client, Table: tokens}
	})
}

// The attributes of both tables are fixed: others read them.
func TestItems(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	empty := ""
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	key := plant.NewWriteKey("gardener", "k")
	store := &dynamo.PlantStore{Client: client, Table: plants}
	for _, p := range []plant.NewPlant{
		{ID: -7, Plant: plant.Plant{Name: "oak", Tag: &empty}},
		{ID: 8, Plant: plant.Plant{Name: "elm"}},
	} {
		if err := store.Create(t.Context(), plant.Write{Plant: p, Key: key, By: "gardener", At: at}); err != nil {
			t.Fatal(err)
		}
	}
	issued := token.Token{Digest: "d", ID: "i", Subject: "s", CreatedAt: at.UTC(), ExpiresAt: time.Unix(1800000000, 0).UTC()}
	if err := (&dynamo.TokenStore{Client: client, Table: tokens}).Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	stamps := []string{"created_at S 2026-03-01T12:00:00Z", "created_by S gardener"}
	checkItem(t, client, plants, "id", &types.AttributeValueMemberN{Value: "-7"},
		append(stamps, "id N -7", "name S oak", "tag S ", "write_key S "+key.String()))
	checkItem(t, client, plants, "id", &types.AttributeValueMemberN{Value: "8"},
		append(stamps, "id N 8", "name S elm", "write_key S "+key.String()))
	checkItem(t, client, tokens, "digest", &types.AttributeValueMemberS{Value: "d"},
		[]string{"created_at S 2026-03-01T12:00:00Z", "digest S d", "expires_at N 1800000000", "id S i", "subject S s"})
}

func checkItem(t *testing.T, client *dynamodb.Client, table, keyName string, key types.AttributeValue, want []string) {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &table,
		Key:       map[string]types.AttributeValue{keyName: key},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range slices.Sorted(maps.Keys(out.Item)) {
		switch value := out.Item[name].(type) {
		case *types.AttributeValueMemberS:
			got = append(got, name+" S "+value.Value)
		case *types.AttributeValueMemberN:
			got = append(got, name+" N "+value.Value)
		default:
			t.Errorf("item's %s = %T, want S or N", name, value)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("item = %q, want %q", got, want)
	}
}

// Items that others wrote, which cannot be read whole, hinder nobody.
func TestItemsOfOthers(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	put := func(table string, item map[string]types.AttributeValue) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	text := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	put(plants, map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: "1"}, "created_at": text("yesterday")})
	put(tokens, map[string]types.AttributeValue{"digest": text("odd"), "id": text("odd"), "expires_at": text("soon")})
	put(tokens, map[string]types.AttributeValue{ // the year 10000, which JSON cannot express
		"digest": text("late"), "id": text("late"), "expires_at": &types.AttributeValueMemberN{Value: "253402300800"},
	})

	write := plant.Write{Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "oak"}}, Key: plant.NewWriteKey("gardener", "k")}
	if err := (&dynamo.PlantStore{Client: client, Table: plants}).Create(t.Context(), write); !errors.Is(err, plant.ErrExists) {
		t.Errorf("Create on an id that another wrote = %v, want %v", err, plant.ErrExists)
	}
	store := &dynamo.TokenStore{Client: client, Table: tokens}
	good := token.Token{Digest: "d", ID: "i", Subject: "s", CreatedAt: time.Unix(0, 0).UTC(), ExpiresAt: time.Unix(253402300799, 0).UTC()}
	if err := store.Add(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if got, err := store.List(t.Context()); err == nil || !slices.Equal(got, []token.Token{good}) {
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
	for _, test := range []struct {
		plants, tokens string
		want           error
	}{
		{plants, tokens, nil},
		{tokens, plants, dynamo.ErrTable},
		{plants, plants, dynamo.ErrTable},
		{"absent", tokens, dynamo.ErrTable},
		{plants, "absent", dynamo.ErrTable},
	} {
		if err := dynamo.CheckTables(t.Context(), client, test.plants, test.tokens); !errors.Is(err, test.want) {
			t.Errorf("CheckTables(%q, %q) = %v, want %v", test.plants, test.tokens, err, test.want)
		}
	}
	if err := dynamo.CreateTables(t.Context(), client, tokens, plants); !errors.Is(err, dynamo.ErrTable) {
		t.Errorf("CreateTables with the names swapped = %v, want %v", err, dynamo.ErrTable)
	}
}

package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/storetest"
)

// The tests of this file need DynamoDB Local.

func TestPlants(t *testing.T) {
	t.Parallel()
	client, plants, _ := dynamotest.Tables(t)
	storetest.TestPlants(t, &dynamo.Plants{Client: client, Table: plants})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	client, _, tokens := dynamotest.Tables(t)
	storetest.TestTokens(t, &dynamo.Tokens{Client: client, Table: tokens})
}

// An item of another program, which has nothing but the key, is not overwritten.
func TestItemsOfOthers(t *testing.T) {
	t.Parallel()
	client, plants, tokens := dynamotest.Tables(t)
	put := func(table, key string, id types.AttributeValue) {
		in := &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{key: id}}
		if _, err := client.PutItem(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	put(plants, "id", &types.AttributeValueMemberN{Value: "1"})
	put(tokens, "id", &types.AttributeValueMemberS{Value: "1"})
	write := plant.Write{NewPlant: plant.NewPlant{ID: 1}, WriteKey: "k"}
	if err := (&dynamo.Plants{Client: client, Table: plants}).Create(t.Context(), write); !errors.Is(err, plant.ErrExists) {
		t.Errorf("Create = %v, want %v", err, plant.ErrExists)
	}
	if err := (&dynamo.Tokens{Client: client, Table: tokens}).Add(t.Context(), token.Token{ID: "1"}); err == nil {
		t.Error("Add = nil, want an error")
	}
}

package dynamo_test

import (
	"testing"

	"plantstore/internal/dynamo"
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

// A table with another key is refused. The other tests check the tables that they create.
func TestCheckTables(t *testing.T) {
	t.Parallel()
	client, plants, tokens := dynamotest.Tables(t)
	if err := dynamo.CheckTables(t.Context(), client, plants, plants); err == nil {
		t.Error("CheckTables of the table of plants, in place of that of tokens, = nil, want an error")
	}
	if err := dynamo.CheckTables(t.Context(), client, tokens, tokens); err == nil {
		t.Error("CheckTables of the table of tokens, in place of that of plants, = nil, want an error")
	}
}

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
	client, plants, _ := dynamotest.NewTables(t)
	storetest.TestPlants(t, &dynamo.Plants{Client: client, Table: plants}, 20)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	client, _, tokens := dynamotest.NewTables(t)
	storetest.TestTokens(t, &dynamo.Tokens{Client: client, Table: tokens})
}

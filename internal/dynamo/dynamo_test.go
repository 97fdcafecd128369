package dynamo_test

import (
	"testing"

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

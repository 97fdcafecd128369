package dynamo

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
)

// A table with another key is refused. With a sort key, an id could have many items.
func TestCheckTables(t *testing.T) {
	const id, sorted = `{"AttributeName":"id"}`, `{"AttributeName":"time"}`
	described := func(keySchema, idType string) http.HandlerFunc {
		const table = `{"Table":{"KeySchema":[%s],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":%q}]}}`
		return answer(http.StatusOK, fmt.Sprintf(table, keySchema, idType))
	}
	ofPlants, ofTokens := described(id, "N"), described(id, "S")
	tests := []struct {
		name           string
		plants, tokens http.HandlerFunc
		valid          bool
	}{
		{name: "our keys", plants: ofPlants, tokens: ofTokens, valid: true},
		{name: "plants with the key of tokens", plants: ofTokens, tokens: ofTokens},
		{name: "tokens with the key of plants", plants: ofPlants, tokens: ofPlants},
		{name: "a key of another name", plants: described(sorted, "N"), tokens: ofTokens},
		{name: "a sort key", plants: described(id+","+sorted, "N"), tokens: ofTokens},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newFake(t, test.plants, test.tokens).client()
				if err := CheckTables(t.Context(), client, "plants", "tokens"); (err == nil) != test.valid {
					t.Errorf("CheckTables = %v, want valid: %t", err, test.valid)
				}
			})
		})
	}
}

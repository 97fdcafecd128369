package dynamo

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A table with another key is refused. With a sort key, an id could have many items.
func TestCheckTables(t *testing.T) {
	// described is the answer of DynamoDB for a table with these keys, of which the first has a type.
	described := func(keyType types.ScalarAttributeType, keys ...string) http.HandlerFunc {
		var schema []string
		for _, key := range keys {
			schema = append(schema, fmt.Sprintf(`{"AttributeName":%q}`, key))
		}
		const table = `{"Table":{"KeySchema":[%s],"AttributeDefinitions":[{"AttributeName":%q,"AttributeType":%q}]}}`
		return answer(http.StatusOK, fmt.Sprintf(table, strings.Join(schema, ","), keys[0], keyType))
	}
	ofPlants, ofTokens := described(plantKeyType, plantKey), described(tokenKeyType, tokenKey)
	const binary = types.ScalarAttributeTypeB
	tests := []struct {
		name           string
		plants, tokens http.HandlerFunc
		valid          bool
	}{
		{name: "our keys", plants: ofPlants, tokens: ofTokens, valid: true},
		{name: "plants with a key of another type", plants: described(binary, plantKey), tokens: ofTokens},
		{name: "tokens with a key of another type", plants: ofPlants, tokens: described(binary, tokenKey)},
		{name: "a key of another name", plants: described(plantKeyType, "time"), tokens: ofTokens},
		{name: "a sort key", plants: described(plantKeyType, plantKey, "time"), tokens: ofTokens},
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

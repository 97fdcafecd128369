package dynamo

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// described is DynamoDB's description of a table with this key, and with the definition of an attribute.
func described(key string, attribute Key) http.HandlerFunc {
	return answer(http.StatusOK, fmt.Sprintf(`{"Table": {
		"KeySchema": [{"AttributeName": %q, "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "digest", "AttributeType": "S"}, {"AttributeName": %q, "AttributeType": %q}]
	}}`, key, attribute.Name, attribute.Type))
}

var (
	plantsTable = described(plantKey.Name, plantKey)
	tokensTable = described(tokenKey.Name, tokenKey)
	otherTable  = described("digest", tokenKey)
)

func TestCheckTables(t *testing.T) {
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     string // part of the error
		missing  bool   // the error is ErrNoTable
	}{
		{name: "both tables", attempts: do(plantsTable, tokensTable), want: "<nil>"},
		{name: "the tables swapped", attempts: do(tokensTable), want: "plants does not have the key"},
		{name: "the table of plants twice", attempts: do(plantsTable, plantsTable), want: "tokens does not have the key id"},
		{name: "a table with another key", attempts: do(plantsTable, otherTable), want: "tokens does not have the key id"},
		{name: "no table of plants", attempts: do(noTable), want: "does not exist: plants", missing: true},
		{name: "no table of tokens", attempts: do(plantsTable, noTable), want: "does not exist: tokens", missing: true},
		{name: "a refusal", attempts: do(deny), want: "AccessDenied"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := CheckTables(t.Context(), newFake(t, test.attempts...).client(), "plants", "tokens")
				if !strings.Contains(fmt.Sprint(err), test.want) {
					t.Errorf("CheckTables = %v, want %s", err, test.want)
				}
				if errors.Is(err, ErrNoTable) != test.missing {
					t.Errorf("CheckTables = %v, want ErrNoTable: %t", err, test.missing)
				}
			})
		})
	}
}

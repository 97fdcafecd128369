package template

import (
	"reflect"
	"testing"

	"plantstore/internal/dynamo"
)

// TestTables checks that the stored data survives: a table remains without its stack, is
// protected from deletion outside dev, and can be restored. DynamoDB removes expired tokens.
func TestTables(t *testing.T) {
	type table struct {
		DeletionProtectionEnabled        any
		PointInTimeRecoverySpecification struct{ PointInTimeRecoveryEnabled bool }
		TimeToLiveSpecification          struct {
			AttributeName string
			Enabled       bool
		}
	}
	s := production(t)
	tables := properties[table](t, s, "AWS::DynamoDB::Table")
	protection := map[string]any{"Fn::If": []any{"Guarded", true, false}}
	for name, table := range tables {
		r := s.Resources[name]
		if r.DeletionPolicy != "RetainExceptOnCreate" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %s and %s, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if !equal(table.DeletionProtectionEnabled, protection) {
			t.Errorf("%s is protected from deletion by %v, want the condition Guarded", name, table.DeletionProtectionEnabled)
		}
		if !table.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled {
			t.Errorf("%s cannot be restored", name)
		}
	}
	isDev := map[string]any{"Fn::Equals": []any{ref{"Stage"}, "dev"}}
	if !equal(s.Conditions["Guarded"], map[string]any{"Fn::Not": []any{isDev}}) {
		t.Errorf("Guarded is %v, want every stage but dev", s.Conditions["Guarded"])
	}
	expiry := tables["TokensTable"].TimeToLiveSpecification
	if expiry.AttributeName != "expires_at" || !expiry.Enabled {
		t.Errorf("tokens are removed by %+v, want expires_at", expiry)
	}
}

// TestKeys checks that each table has the key that internal/dynamo uses.
func TestKeys(t *testing.T) {
	type attribute struct{ AttributeName, AttributeType, KeyType string }
	type table struct{ AttributeDefinitions, KeySchema []attribute }
	tables := properties[table](t, production(t), "AWS::DynamoDB::Table")
	plants, tokens := dynamo.Keys()
	for name, key := range map[string]dynamo.Key{"PlantsTable": plants, "TokensTable": tokens} {
		want := table{
			AttributeDefinitions: []attribute{{AttributeName: key.Name, AttributeType: string(key.Type)}},
			KeySchema:            []attribute{{AttributeName: key.Name, KeyType: "HASH"}},
		}
		if got := tables[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the key %+v, want %+v", name, got, want)
		}
	}
}

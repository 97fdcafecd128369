package template

import (
	"reflect"
	"slices"
	"testing"

	"plantstore/internal/dynamo"
)

type table struct {
	AttributeDefinitions      []attribute
	KeySchema                 []attribute
	DeletionProtectionEnabled any
	TimeToLiveSpecification   timeToLive

	PointInTimeRecoverySpecification struct{ RecoveryPeriodInDays any }
}

type timeToLive struct {
	AttributeName string
	Enabled       bool
}

type attribute struct{ AttributeName, AttributeType, KeyType string }

// TestTables checks that the stored data survives: a table remains without its stack, and is protected
// from deletion outside dev. DynamoDB removes expired tokens, and nothing else. checkov checks that tables
// can be restored.
func TestTables(t *testing.T) {
	s := production(t)
	tables := properties[table](t, s, "AWS::DynamoDB::Table")
	protection := object{"Fn::If": []any{"Guarded", true, false}}
	for name, table := range tables {
		if r := s.Resources[name]; r.DeletionPolicy != "RetainExceptOnCreate" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %s and %s, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if !reflect.DeepEqual(table.DeletionProtectionEnabled, protection) {
			t.Errorf("%s is protected from deletion by %v, want the condition Guarded", name, table.DeletionProtectionEnabled)
		}
		var expiry timeToLive
		if name == "TokensTable" {
			expiry = timeToLive{AttributeName: "expires_at", Enabled: true}
		}
		if got := table.TimeToLiveSpecification; got != expiry {
			t.Errorf("items of %s are removed by %+v, want %+v", name, got, expiry)
		}
		if days := table.PointInTimeRecoverySpecification.RecoveryPeriodInDays; days != nil {
			t.Errorf("%s can be restored for %v days, want 35, the default", name, days)
		}
	}
	isDev := object{"Fn::Equals": []any{"${Stage}", "dev"}}
	if !reflect.DeepEqual(s.Conditions["Guarded"], object{"Fn::Not": []any{isDev}}) {
		t.Errorf("Guarded is %v, want every stage but dev", s.Conditions["Guarded"])
	}
}

// TestKeys checks that each table has the key that internal/dynamo uses.
func TestKeys(t *testing.T) {
	tables := properties[table](t, production(t), "AWS::DynamoDB::Table")
	plants, tokens := dynamo.Keys()
	for name, key := range map[string]dynamo.Key{"PlantsTable": plants, "TokensTable": tokens} {
		definitions := []attribute{{AttributeName: key.Name, AttributeType: string(key.Type)}}
		schema := []attribute{{AttributeName: key.Name, KeyType: "HASH"}}
		if got := tables[name]; !slices.Equal(got.AttributeDefinitions, definitions) || !slices.Equal(got.KeySchema, schema) {
			t.Errorf("%s has the key %+v %+v, want %+v", name, got.AttributeDefinitions, got.KeySchema, key)
		}
	}
}

package template

import (
	"testing"
)

// TestTables checks that the stored data survives: a table remains without its stack, and
// is protected from deletion outside dev. DynamoDB removes expired tokens. checkov checks
// that a table can be restored.
func TestTables(t *testing.T) {
	type table struct {
		DeletionProtectionEnabled any
		TimeToLiveSpecification   any
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
	}
	isDev := map[string]any{"Fn::Equals": []any{ref{"Stage"}, "dev"}}
	if !equal(s.Conditions["Guarded"], map[string]any{"Fn::Not": []any{isDev}}) {
		t.Errorf("Guarded is %v, want every stage but dev", s.Conditions["Guarded"])
	}
	expiry := tables["TokensTable"].TimeToLiveSpecification
	if !equal(expiry, map[string]any{"AttributeName": "expires_at", "Enabled": true}) {
		t.Errorf("tokens are removed by %v, want expires_at", expiry)
	}
}

// TestLogs checks that every function writes our lines to the log whose lines the metric
// filters count. checkov checks that no log grows for ever.
func TestLogs(t *testing.T) {
	want := loggingConfig{LogGroup: ref{"Log"}, LogFormat: "JSON", ApplicationLogLevel: "INFO"}
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		if f.LoggingConfig != want {
			t.Errorf("%s logs with %+v, want lines of INFO as JSON in Log", name, f.LoggingConfig)
		}
	}
}

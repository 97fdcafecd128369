package template

import (
	"slices"
	"testing"
)

// TestTables checks that the stored data survives: a table remains without its stack,
// can be restored, and is protected outside dev. DynamoDB removes expired tokens.
func TestTables(t *testing.T) {
	s := production(t)
	type table struct {
		DeletionProtectionEnabled        map[string][]any
		PointInTimeRecoverySpecification struct{ PointInTimeRecoveryEnabled bool }
		TimeToLiveSpecification          struct {
			AttributeName string
			Enabled       bool
		}
	}
	tables := properties[table](t, s, "AWS::DynamoDB::Table")
	for name, properties := range tables {
		if r := s.Resources[name]; r.DeletionPolicy != "RetainExceptOnCreate" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %s and %s, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
		if !properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled {
			t.Errorf("%s cannot be restored", name)
		}
		if got := properties.DeletionProtectionEnabled["Fn::If"]; !slices.Equal(got, []any{"Guarded", true, false}) {
			t.Errorf("%s is protected from deletion by %v, want the condition Guarded", name, got)
		}
	}
	if !equal(s.Conditions["Guarded"], map[string]any{"Fn::Not": []any{map[string]any{"Fn::Equals": []any{ref{"Stage"}, "dev"}}}}) {
		t.Errorf("Guarded is %v, want every stage but dev", s.Conditions["Guarded"])
	}
	if expiry := tables["TokensTable"].TimeToLiveSpecification; expiry.AttributeName != "expires_at" || !expiry.Enabled {
		t.Errorf("tokens are removed by %+v, want expires_at", expiry)
	}
}

// TestLogs checks that every function writes our lines to the one log whose lines the
// metric filters count, and that no log grows for ever.
func TestLogs(t *testing.T) {
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		l := f.LoggingConfig
		if l.LogGroup.Ref != "Log" || l.LogFormat != "JSON" || l.ApplicationLogLevel != "INFO" {
			t.Errorf("%s logs with %+v, want lines of INFO as JSON in Log", name, l)
		}
	}
	type logGroup struct{ RetentionInDays ref }
	for name, l := range properties[logGroup](t, production(t), "AWS::Logs::LogGroup") {
		if l.RetentionInDays.Ref != "LogRetention" {
			t.Errorf("%s keeps its lines for %v days, want LogRetention", name, l.RetentionInDays)
		}
	}
}

package template

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type alarm struct {
	metric
	Metrics           []query
	EvaluationPeriods int
	DatapointsToAlarm int
	AlarmActions      any
	OKActions         any
	TreatMissingData  string
}

type query struct {
	Expression string
	MetricStat struct{ Metric metric }
}

type metric struct {
	Namespace  any
	MetricName string
	Dimensions []struct {
		Name  string
		Value any
	}
}

type filter struct {
	LogGroupName          ref
	FilterPattern         string
	MetricTransformations []struct {
		MetricNamespace substitution
		MetricName      string
		MetricValue     string
		DefaultValue    any
		Dimensions      any
	}
}

// namespace is that of the metrics from our logs. It names the stack, so stacks share none.
const namespace = "PlantStore/${AWS::StackName}"

// TestAlarms checks that each alarm notifies when it fires and when it ends, that no
// traffic is no alarm, that a filter emits each of our metrics that an alarm reads, and
// that docs/operations.md has a row for it.
func TestAlarms(t *testing.T) {
	s := production(t)
	emitted := map[string]bool{}
	for name, f := range properties[filter](t, s, "AWS::Logs::MetricFilter") {
		m := f.MetricTransformations[0]
		emitted[m.MetricName] = true
		if m.MetricNamespace.Sub != namespace {
			t.Errorf("%s emits to %s, want %s", name, m.MetricNamespace.Sub, namespace)
		}
		if m.DefaultValue != nil && m.Dimensions != nil {
			t.Errorf("%s has DefaultValue and Dimensions, which a deployment refuses", name)
		}
	}
	rows := read(t, "docs/operations.md")
	topic := map[string]any{"Fn::If": []any{"HasAlarmTopic", []any{ref{"AlarmTopic"}}, ref{"AWS::NoValue"}}}
	for name, a := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
		t.Run(name, func(t *testing.T) {
			if !equal(a.AlarmActions, topic) || !equal(a.OKActions, topic) {
				t.Errorf("it notifies %v and %v, want AlarmTopic", a.AlarmActions, a.OKActions)
			}
			if a.TreatMissingData != "notBreaching" {
				t.Errorf("it treats missing data as %s", a.TreatMissingData)
			}
			for _, m := range a.read() {
				if equal(m.Namespace, substitution{namespace}) && !emitted[m.MetricName] {
					t.Errorf("it reads %s, which no filter emits", m.MetricName)
				}
			}
			if !strings.Contains(rows, "\n| "+name+" |") {
				t.Error("docs/operations.md has no row for it")
			}
		})
	}
}

// read returns the metrics that an alarm reads.
func (a alarm) read() []metric {
	metrics := []metric{a.metric}
	for _, q := range a.Metrics {
		metrics = append(metrics, q.MetricStat.Metric)
	}
	return slices.DeleteFunc(metrics, func(m metric) bool { return m.MetricName == "" })
}

// TestFill checks that an alarm which fills in 0 for a missing value has a period to spare.
// Otherwise an alarm could end, or not fire, because the newest value is late.
func TestFill(t *testing.T) {
	found := 0
	for name, a := range properties[alarm](t, production(t), "AWS::CloudWatch::Alarm") {
		for _, q := range a.Metrics {
			if !strings.Contains(q.Expression, "FILL(") {
				continue
			}
			found++
			if a.DatapointsToAlarm == 0 || a.DatapointsToAlarm >= a.EvaluationPeriods {
				t.Errorf("%s needs %d of %d periods, want one to spare", name, a.DatapointsToAlarm, a.EvaluationPeriods)
			}
		}
	}
	if found == 0 {
		t.Error("no alarm has FILL")
	}
}

// TestErrorsAlarm checks that no function crashes in silence. A crash logs no line of
// ours, so the alarm must read Lambda's own metric of each function.
func TestErrorsAlarm(t *testing.T) {
	s := production(t)
	watched := properties[alarm](t, s, "AWS::CloudWatch::Alarm")["ErrorsAlarm"].read()
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		found := slices.ContainsFunc(watched, func(m metric) bool {
			return equal(m.Namespace, "AWS/Lambda") && m.MetricName == "Errors" && len(m.Dimensions) == 1 && equal(m.Dimensions[0].Value, ref{name})
		})
		if !found {
			t.Errorf("ErrorsAlarm does not read the errors of %s", name)
		}
	}
}

// TestDashboard checks that a filter emits each of our metrics on the dashboard.
func TestDashboard(t *testing.T) {
	type dashboard struct{ DashboardBody substitution }
	s := production(t)
	var body struct {
		Widgets []struct {
			Properties struct{ Metrics [][]any }
		}
	}
	if err := json.Unmarshal([]byte(properties[dashboard](t, s, "AWS::CloudWatch::Dashboard")["Dashboard"].DashboardBody.Sub), &body); err != nil {
		t.Fatal(err)
	}
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	shown := 0
	for _, widget := range body.Widgets {
		space := ""
		for _, row := range widget.Properties.Metrics {
			if len(row) < 2 {
				continue
			}
			if row[0] != "." { // which repeats the one above
				space, _ = row[0].(string)
			}
			name, _ := row[1].(string)
			if space != namespace {
				continue
			}
			shown++
			if _, ok := filters[name+"Metric"]; !ok {
				t.Errorf("the dashboard shows %s, which no filter emits", name)
			}
		}
	}
	if shown == 0 {
		t.Error("the dashboard shows none of our metrics")
	}
}

// TestFilters checks that each pattern is made of comparisons of a field with a number or a
// text, which is CloudWatch's syntax. TestFunctions checks that the lines have the fields.
func TestFilters(t *testing.T) {
	for name, f := range properties[filter](t, production(t), "AWS::Logs::MetricFilter") {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(f.FilterPattern, "{ ") || !strings.HasSuffix(f.FilterPattern, " }") {
				t.Errorf("%s is no pattern for JSON", f.FilterPattern)
			}
			for _, comparison := range f.comparisons() {
				var value any
				if len(comparison) != 3 || !slices.Contains([]string{"=", "!=", "<", "<=", ">", ">="}, comparison[1]) ||
					!strings.HasPrefix(comparison[0], "$.") || json.Unmarshal([]byte(comparison[2]), &value) != nil {
					t.Errorf("%s contains %v, want a field, an operator and a value", f.FilterPattern, comparison)
				}
			}
			if value := f.MetricTransformations[0].MetricValue; value != "1" && !f.reads(value) {
				t.Errorf("its value is %s, want 1 or a field of the pattern, which a line without the field does not match", value)
			}
		})
	}
}

// comparisons returns the comparisons of a pattern, each as its words.
func (f filter) comparisons() [][]string {
	var comparisons [][]string
	pattern := strings.NewReplacer("{", "", "}", "", "(", "", ")", "", "||", "&&").Replace(f.FilterPattern)
	for comparison := range strings.SplitSeq(pattern, "&&") {
		comparisons = append(comparisons, strings.Fields(comparison))
	}
	return comparisons
}

// reads reports whether the pattern has a comparison of the field.
func (f filter) reads(field string) bool {
	return slices.ContainsFunc(f.comparisons(), func(comparison []string) bool { return comparison[0] == field })
}

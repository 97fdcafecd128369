package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type alarm struct {
	metric
	Metrics []struct {
		Expression string
		MetricStat struct{ Metric metric }
	}
	EvaluationPeriods int
	DatapointsToAlarm int
	AlarmActions      any
	OKActions         any
	TreatMissingData  string
}

type metric struct {
	Namespace  any
	MetricName string
	Dimensions []dimension
}

type dimension struct{ Name, Value any }

type filter struct {
	LogGroupName          ref
	FilterPattern         string
	MetricTransformations []struct {
		MetricNamespace any
		MetricName      string
		MetricValue     string
		DefaultValue    any
		Dimensions      any
	}
}

// namespace is that of the metrics from our logs. It names the stack, so stacks share none.
var namespace = substitution{"PlantStore/${AWS::StackName}"}

// TestAlarms checks that each alarm notifies when it fires and when it ends, that no
// traffic is no alarm, that a filter emits each of our metrics that an alarm reads, and
// that docs/operations.md has a row for it.
func TestAlarms(t *testing.T) {
	s := production(t)
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	rows := read(t, "docs/operations.md")
	topic := map[string]any{"Fn::If": []any{"HasAlarmTopic", []any{ref{"AlarmTopic"}}, ref{"AWS::NoValue"}}}
	for name, a := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
		t.Run(name, func(t *testing.T) {
			if !equal(a.AlarmActions, topic) {
				t.Errorf("it notifies %v when it fires, want AlarmTopic", a.AlarmActions)
			}
			if !equal(a.OKActions, topic) {
				t.Errorf("it notifies %v when it ends, want AlarmTopic", a.OKActions)
			}
			if a.TreatMissingData != "notBreaching" {
				t.Errorf("it treats missing data as %s", a.TreatMissingData)
			}
			for _, m := range a.reads() {
				if _, emitted := filters[m.MetricName+"Metric"]; !emitted && equal(m.Namespace, namespace) {
					t.Errorf("it reads %s, which no filter emits", m.MetricName)
				}
			}
			if !strings.Contains(rows, "\n| "+name+" |") {
				t.Error("docs/operations.md has no row for it")
			}
		})
	}
}

// reads returns the metrics that an alarm reads.
func (a alarm) reads() []metric {
	metrics := []metric{a.metric}
	for _, query := range a.Metrics {
		metrics = append(metrics, query.MetricStat.Metric)
	}
	return metrics
}

// TestLateMetrics checks that an alarm which fills in 0 for a missing value has a period to
// spare. Otherwise an alarm could end, or not fire, because the newest value is late.
func TestLateMetrics(t *testing.T) {
	found := false
	for name, a := range properties[alarm](t, production(t), "AWS::CloudWatch::Alarm") {
		for _, query := range a.Metrics {
			fills := strings.Contains(query.Expression, "FILL(")
			found = found || fills
			spare := a.DatapointsToAlarm > 0 && a.DatapointsToAlarm < a.EvaluationPeriods
			if fills && !spare {
				t.Errorf("%s needs %d of %d periods, want one to spare", name, a.DatapointsToAlarm, a.EvaluationPeriods)
			}
		}
	}
	if !found {
		t.Error("no alarm has FILL, so this test checks nothing")
	}
}

// TestErrorsAlarm checks that no function crashes in silence. A crash logs no line of
// ours, so the alarm must read Lambda's own metric of each function.
func TestErrorsAlarm(t *testing.T) {
	s := production(t)
	watched := properties[alarm](t, s, "AWS::CloudWatch::Alarm")["ErrorsAlarm"].reads()
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		want := metric{Namespace: "AWS/Lambda", MetricName: "Errors", Dimensions: []dimension{{Name: "FunctionName", Value: ref{name}}}}
		if !slices.ContainsFunc(watched, func(m metric) bool { return equal(m, want) }) {
			t.Errorf("ErrorsAlarm does not read the errors of %s", name)
		}
	}
}

// The part of CloudWatch's syntax that the filters use: comparisons of a field of a JSON
// line with a number or a text.
var (
	pattern = regexp.MustCompile(`^\{ \(*` + comparison + `(\)* (&&|\|\|) \(*` + comparison + `)*\)* \}$`)
	field   = regexp.MustCompile(`\$\.\w+`)
)

const comparison = `\$\.\w+ (=|!=|<|<=|>|>=) (\d+|"[^"]*")`

// TestFilters checks the patterns of the filters, and that each emits a metric which is
// named for it, of a value that every line which matches has. TestFunctions checks that
// the lines have the fields.
func TestFilters(t *testing.T) {
	for name, f := range properties[filter](t, production(t), "AWS::Logs::MetricFilter") {
		t.Run(name, func(t *testing.T) {
			if !pattern.MatchString(f.FilterPattern) {
				t.Errorf("%s does not match %s", f.FilterPattern, pattern)
			}
			m := f.MetricTransformations[0]
			if m.MetricName+"Metric" != name || !equal(m.MetricNamespace, namespace) {
				t.Errorf("it emits %s in %v, want a name like its own in %s", m.MetricName, m.MetricNamespace, namespace.Sub)
			}
			if m.MetricValue != "1" && !slices.Contains(f.fields(), m.MetricValue) {
				t.Errorf("its value is %s, want 1 or a field of the pattern", m.MetricValue)
			}
			if m.DefaultValue != nil && m.Dimensions != nil {
				t.Error("it has DefaultValue and Dimensions, which CloudWatch refuses")
			}
		})
	}
}

// fields returns the fields that a pattern reads, such as $.code.
func (f filter) fields() []string { return field.FindAllString(f.FilterPattern, -1) }

// TestDashboard checks that a filter emits each of our metrics on the dashboard.
func TestDashboard(t *testing.T) {
	s := production(t)
	type dashboard struct{ DashboardBody substitution }
	text := properties[dashboard](t, s, "AWS::CloudWatch::Dashboard")["Dashboard"].DashboardBody.Sub
	var body struct {
		Widgets []struct {
			Properties struct{ Metrics [][]any }
		}
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	shown := 0
	for _, widget := range body.Widgets {
		var space any // the namespace of a row; "." repeats that of the row above
		for _, row := range widget.Properties.Metrics {
			if row[0] != "." {
				space = row[0]
			}
			if space != namespace.Sub {
				continue
			}
			shown++
			if _, emitted := filters[fmt.Sprint(row[1], "Metric")]; !emitted {
				t.Errorf("the dashboard shows %v, which no filter emits", row[1])
			}
		}
	}
	if shown == 0 {
		t.Error("the dashboard shows none of our metrics")
	}
}

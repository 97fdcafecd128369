package template

import (
	"slices"
	"strings"
	"testing"
)

type alarm struct {
	metric
	Metrics []struct {
		Expression string
		MetricStat struct {
			Stat   string
			Metric metric
		}
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

// TestAlarms checks that each alarm notifies when it fires and when it ends, that no
// traffic is no alarm, that something emits each metric that an alarm reads, and that
// docs/operations.md has a row for it.
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
				if !emits(filters, m) {
					t.Errorf("it reads %+v, which nothing emits", m)
				}
			}
			if !strings.Contains(rows, "\n| "+name+" |") {
				t.Error("docs/operations.md has no row for it")
			}
		})
	}
}

// TestFigures checks that no alarm sums what a filter takes from the lines, such as the
// durations of requests. Their number is what counts, or their extreme.
func TestFigures(t *testing.T) {
	s := production(t)
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	for name, a := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
		for _, query := range a.Metrics {
			emitter := query.MetricStat.Metric.MetricName + "Metric"
			if filters[emitter].isFigure() && query.MetricStat.Stat == "Sum" {
				t.Errorf("%s sums the figures of %s", name, emitter)
			}
		}
	}
}

// reads returns the metrics that an alarm reads.
func (a alarm) reads() []metric {
	if len(a.Metrics) == 0 {
		return []metric{a.metric}
	}
	var metrics []metric
	for _, query := range a.Metrics {
		if query.Expression == "" {
			metrics = append(metrics, query.MetricStat.Metric)
		}
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

package template

import (
	"os"
	"slices"
	"strings"
	"testing"
)

type alarm struct {
	AlarmDescription  string
	Metrics           []query
	EvaluationPeriods int
	DatapointsToAlarm int
	AlarmActions      any
	OKActions         any
	TreatMissingData  string
}

// query is an expression, or a metric that expressions read.
type query struct {
	Expression string
	MetricStat struct {
		Stat   string
		Metric metric
	}
}

type metric struct {
	Namespace  any
	MetricName string
	Dimensions []dimension
}

type dimension struct{ Name, Value any }

// reads returns the metrics that an alarm reads.
func (a alarm) reads() (metrics []metric) {
	for _, q := range a.Metrics {
		if q.Expression == "" {
			metrics = append(metrics, q.MetricStat.Metric)
		}
	}
	return metrics
}

// alarms returns the alarms of the stack.
func alarms(t *testing.T, s stack) map[string]alarm {
	t.Helper()
	return properties[alarm](t, s, "AWS::CloudWatch::Alarm")
}

// TestAlarmsNotify checks that each alarm notifies the topic when it fires and when it ends,
// and that its text, which arrives by mail, ends with its page, which exists.
func TestAlarmsNotify(t *testing.T) {
	topic := map[string]any{"Fn::If": []any{"HasAlarmTopic", []any{ref{"AlarmTopic"}}, ref{"AWS::NoValue"}}}
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range alarms(t, production(t)) {
		if !strings.Contains(string(operations), "\n### "+name+"\n") {
			t.Errorf("docs/operations.md has no section %s", name)
		}
		if !equal(a.AlarmActions, topic) || !equal(a.OKActions, topic) {
			t.Errorf("%s notifies %v when it fires and %v when it ends, want AlarmTopic", name, a.AlarmActions, a.OKActions)
		}
		if page := " docs/operations.md#" + strings.ToLower(name); !strings.HasSuffix(a.AlarmDescription, page) {
			t.Errorf("%s has the description %q, want it to end with %q", name, a.AlarmDescription, page)
		}
	}
}

// TestQuietHours checks that neither silence nor single requests of a quiet hour are an alarm: a share
// has a least count.
func TestQuietHours(t *testing.T) {
	for name, a := range alarms(t, production(t)) {
		if a.TreatMissingData != "notBreaching" {
			t.Errorf("%s treats missing data as %s, want notBreaching", name, a.TreatMissingData)
		}
		for _, q := range a.Metrics {
			hasLeastCount := strings.HasPrefix(q.Expression, "IF(") && strings.Contains(q.Expression, " >= ")
			if strings.Contains(q.Expression, "/") && !hasLeastCount {
				t.Errorf("%s fires by %s, want a least count", name, q.Expression)
			}
		}
	}
}

// documented are AWS's metrics, each service's with its dimension and its names. Sources:
// Lambda Developer Guide, "Types of metrics for Lambda functions"; API Gateway Developer
// Guide, "Monitor CloudWatch metrics for HTTP APIs".
var documented = map[string]struct {
	dimension string
	names     []string
}{
	"AWS/Lambda":     {"FunctionName", []string{"ConcurrentExecutions", "Duration", "Errors", "Invocations", "Throttles"}},
	"AWS/ApiGateway": {"ApiId", []string{"4xx", "5xx", "Count", "DataProcessed", "IntegrationLatency", "Latency"}},
}

// TestAlarmsRead checks that AWS or a metric filter of ours emits each metric that an alarm reads, and
// that no alarm sums a metric whose values are no counts, such as durations.
func TestAlarmsRead(t *testing.T) {
	s := production(t)
	filters := filters(t, s)
	for name, a := range alarms(t, s) {
		if len(a.reads()) == 0 {
			t.Errorf("%s reads no metric", name)
		}
		for _, q := range a.Metrics {
			m := q.MetricStat.Metric
			if q.Expression != "" {
				continue
			}
			filter, isOurs := emitter(filters, m)
			aws := documented[target(m.Namespace)]
			isAWS := slices.Contains(aws.names, m.MetricName) && len(m.Dimensions) == 1 && m.Dimensions[0].Name == aws.dimension
			if !isOurs && !isAWS {
				t.Errorf("%s reads %+v, which nothing emits", name, m)
			}
			if isOurs && filter.MetricTransformations[0].MetricValue != "1" && q.MetricStat.Stat == "Sum" {
				t.Errorf("%s sums the values of %s, which are no counts", name, m.MetricName)
			}
		}
	}
}

// TestErrorsAlarm checks that no function crashes in silence. A crash logs no line of ours, so the
// alarm must read Lambda's own metric of each function. One that is late counts as 0, so the alarm
// must look at several periods.
func TestErrorsAlarm(t *testing.T) {
	s := production(t)
	a := alarms(t, s)["ErrorsAlarm"]
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		want := metric{Namespace: "AWS/Lambda", MetricName: "Errors", Dimensions: []dimension{{Name: "FunctionName", Value: ref{name}}}}
		if !slices.ContainsFunc(a.reads(), func(m metric) bool { return equal(m, want) }) {
			t.Errorf("ErrorsAlarm does not read the errors of %s", name)
		}
	}
	if a.DatapointsToAlarm != 1 || a.EvaluationPeriods < 2 {
		t.Errorf("ErrorsAlarm fires after %d of %d periods, want 1 of several", a.DatapointsToAlarm, a.EvaluationPeriods)
	}
}

// TestCanary checks that each alarm on the functions rolls a deployment back, and that no alarm on the
// API does, because anybody can cause those.
func TestCanary(t *testing.T) {
	type group struct {
		AlarmConfiguration struct{ Alarms []struct{ Name ref } }
	}
	translated := translate(t)
	for stage, s := range map[string]stack{"staging": translated.Staging, "production": translated.Production} {
		want := alarmsOnFunctions(t, s)
		groups := properties[group](t, s, "AWS::CodeDeploy::DeploymentGroup")
		if len(groups) == 0 {
			t.Errorf("%s has no canary", stage)
		}
		for name, g := range groups {
			var got []string
			for _, alarm := range g.AlarmConfiguration.Alarms {
				got = append(got, alarm.Name.Ref)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s is rolled back by %v, want %v", name, stage, got, want)
			}
		}
	}
}

// alarmsOnFunctions returns the alarms that read neither a metric of API Gateway nor its log.
func alarmsOnFunctions(t *testing.T, s stack) (names []string) {
	t.Helper()
	filters := filters(t, s)
	for name, a := range alarms(t, s) {
		isOnAPI := func(m metric) bool {
			filter, isOurs := emitter(filters, m)
			return m.Namespace == "AWS/ApiGateway" || isOurs && filter.LogGroupName.Ref == "AccessLog"
		}
		if !slices.ContainsFunc(a.reads(), isOnAPI) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestWithoutCanary checks that dev, and a deployment at once, have nothing of CodeDeploy: it would
// reject a fix while an alarm fires.
func TestWithoutCanary(t *testing.T) {
	translated := translate(t)
	for name, s := range map[string]stack{"dev": translated.Dev, "at-once": translated.AtOnce} {
		for resource := range s.Resources {
			if strings.HasPrefix(s.Resources[resource].Type, "AWS::CodeDeploy::") {
				t.Errorf("%s has %s", name, resource)
			}
		}
	}
}

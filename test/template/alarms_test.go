package template

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type alarm struct {
	AlarmDescription   string
	Metrics            []query
	EvaluationPeriods  int
	DatapointsToAlarm  int
	ComparisonOperator string
	Threshold          any
	AlarmActions       any
	OKActions          any
	TreatMissingData   string
	ActionsEnabled     any
}

// query is an expression, or a metric that expressions read.
type query struct {
	ID         string
	Expression string
	ReturnData *bool
	MetricStat struct {
		Stat   string
		Metric metric
	}
}

type metric struct {
	Namespace  string
	MetricName string
	Dimensions []dimension
}

type dimension struct{ Name, Value string }

// filter is an AWS::Logs::MetricFilter.
type filter struct {
	LogGroupName          string
	FilterPattern         string
	MetricTransformations []struct {
		MetricNamespace string
		MetricName      string
		MetricValue     string
	}
}

// TestAlarms checks that each alarm notifies the topic when it fires and when it ends, and that its
// text, which arrives by mail, ends with its page, which exists. Neither silence nor single requests of
// a quiet hour are an alarm: a share has a least count. The text says both limits of a share.
func TestAlarms(t *testing.T) {
	topic := object{"Fn::If": []any{"HasAlarmTopic", []any{"${AlarmTopic}"}, "${AWS::NoValue}"}}
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range properties[alarm](t, production(t), "AWS::CloudWatch::Alarm") {
		if !strings.Contains(string(operations), "\n### "+name+"\n") {
			t.Errorf("docs/operations.md has no section %s", name)
		}
		if page := " docs/operations.md#" + strings.ToLower(name); !strings.HasSuffix(a.AlarmDescription, page) {
			t.Errorf("%s has the description %q, want it to end with %q", name, a.AlarmDescription, page)
		}
		if !reflect.DeepEqual(a.AlarmActions, topic) || !reflect.DeepEqual(a.OKActions, topic) {
			t.Errorf("%s notifies %v when it fires and %v when it ends, want AlarmTopic", name, a.AlarmActions, a.OKActions)
		}
		if a.ActionsEnabled != nil {
			t.Errorf("%s has ActionsEnabled %v, want the default", name, a.ActionsEnabled)
		}
		if a.TreatMissingData != "notBreaching" {
			t.Errorf("%s treats missing data as %s, want notBreaching", name, a.TreatMissingData)
		}
		if a.ComparisonOperator != "GreaterThanThreshold" || a.DatapointsToAlarm > a.EvaluationPeriods {
			t.Errorf("%s fires by %s in %d of %d periods, want GreaterThanThreshold in as many at most", name, a.ComparisonOperator, a.DatapointsToAlarm, a.EvaluationPeriods)
		}
		for _, q := range a.Metrics {
			if isWatched := q.ReturnData == nil || *q.ReturnData; isWatched != (q.Expression != "") {
				t.Errorf("%s watches %s = %t, want its expression alone", name, q.ID, isWatched)
			}
			if !strings.Contains(q.Expression, "/") {
				continue
			}
			counted, all := a.Metrics[1].ID, a.Metrics[2].ID
			var least int
			_, err := fmt.Sscanf(q.Expression, "IF("+counted+" >= %d, 100 * "+counted+" / "+all+", 0)", &least)
			if err != nil {
				t.Errorf("%s fires by %s, want the percentage of the two metrics, from a least count on", name, q.Expression)
			}
			threshold := named(fmt.Sprint(a.Threshold)) // a number, or a parameter
			for _, limit := range []string{"ore than " + threshold + " ", fmt.Sprintf(" of the requests, and %d ", least)} {
				if !strings.Contains(a.AlarmDescription, limit) {
					t.Errorf("%s says %q, want %q in it", name, a.AlarmDescription, limit)
				}
			}
		}
	}
}

// TestMetrics checks that a metric filter emits each metric of ours that an alarm reads, that an alarm
// reads each metric that a filter emits, that stacks share no metric, and that no alarm sums a metric
// whose values are no counts, such as durations. API Gateway emits other metrics for REST APIs.
func TestMetrics(t *testing.T) {
	s := production(t)
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	read := map[string]bool{}
	for name, a := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
		for _, q := range a.Metrics {
			if q.Expression != "" {
				continue
			}
			m := q.MetricStat.Metric
			if m.Namespace == "AWS/ApiGateway" {
				isEmitted := slices.Contains([]string{"5xx", "Count"}, m.MetricName)
				if want := []dimension{{Name: "ApiId", Value: "${HttpApi}"}}; !isEmitted || !slices.Equal(m.Dimensions, want) {
					t.Errorf("%s reads %+v, want the failures or the requests of the API", name, m)
				}
			}
			if q.MetricStat.Stat != "Sum" && q.MetricStat.Stat != "SampleCount" {
				t.Errorf("%s reads the %s of %s, want a count", name, q.MetricStat.Stat, m.MetricName)
			}
			if strings.HasPrefix(m.Namespace, "AWS/") {
				continue
			}
			read[m.MetricName] = true
			filter, isOurs := emitter(filters, m)
			if !isOurs {
				t.Errorf("%s reads %+v, which nothing emits", name, m)
			} else if q.MetricStat.Stat == "Sum" && filter.MetricTransformations[0].MetricValue != "1" {
				t.Errorf("%s sums the values of %s, which are no counts", name, m.MetricName)
			}
		}
	}
	for name, f := range filters {
		if metric := f.MetricTransformations[0].MetricName; !read[metric] {
			t.Errorf("no alarm reads %s, which %s emits", metric, name)
		}
	}
}

// emitter returns the filter that emits a metric in the stack's namespace, if there is one.
func emitter(filters map[string]filter, m metric) (filter, bool) {
	for _, f := range filters {
		emitted := f.MetricTransformations[0]
		isInStack := emitted.MetricNamespace == "PlantStore/${AWS::StackName}"
		if isInStack && emitted.MetricNamespace == m.Namespace && emitted.MetricName == m.MetricName {
			return f, true
		}
	}
	return filter{}, false
}

// TestErrorsAlarm checks that no function crashes in silence. A crash logs no line of ours, so the
// alarm must read Lambda's own metric of each function. One that is late counts as 0, so the alarm
// must look at several periods. The first error fires.
func TestErrorsAlarm(t *testing.T) {
	s := production(t)
	a := properties[alarm](t, s, "AWS::CloudWatch::Alarm")["ErrorsAlarm"]
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		want := metric{Namespace: "AWS/Lambda", MetricName: "Errors", Dimensions: []dimension{{Name: "FunctionName", Value: "${" + name + "}"}}}
		if !slices.ContainsFunc(a.Metrics, func(q query) bool { return reflect.DeepEqual(q.MetricStat.Metric, want) }) {
			t.Errorf("ErrorsAlarm does not read the errors of %s", name)
		}
	}
	if got, want := a.Metrics[0].Expression, "SUM(FILL(METRICS(), 0))"; got != want {
		t.Errorf("ErrorsAlarm watches %s, want %s", got, want)
	}
	if a.DatapointsToAlarm != 1 || a.EvaluationPeriods < 2 || a.Threshold != 0.0 {
		t.Errorf("ErrorsAlarm fires above %v in %d of %d periods, want 0 in 1 of several", a.Threshold, a.DatapointsToAlarm, a.EvaluationPeriods)
	}
}

// TestCanary checks that each alarm on the functions rolls a deployment back, and that no alarm on the
// API does, because anybody can cause those. dev, and a deployment at once, have nothing of CodeDeploy:
// it would reject a fix while an alarm fires.
func TestCanary(t *testing.T) {
	type group struct {
		DeploymentConfigName string
		AlarmConfiguration   struct{ Alarms []struct{ Name string } }
	}
	for _, test := range []struct {
		stack     string
		hasCanary bool
	}{
		{stack: "dev gradual", hasCanary: false},
		{stack: "staging gradual", hasCanary: true},
		{stack: "production gradual", hasCanary: true},
		{stack: "production at-once", hasCanary: false},
	} {
		s := translated(t).Stacks[test.stack]
		hasCanary := false
		for _, resource := range s.Resources {
			hasCanary = hasCanary || strings.HasPrefix(resource.Type, "AWS::CodeDeploy::")
		}
		if hasCanary != test.hasCanary {
			t.Errorf("%s has a canary = %t, want %t", test.stack, hasCanary, test.hasCanary)
		}
		if !hasCanary {
			continue
		}
		want := alarmsOnFunctions(t, s)
		groups := properties[group](t, s, "AWS::CodeDeploy::DeploymentGroup")
		if functions := properties[function](t, s, "AWS::Lambda::Function"); len(groups) != len(functions) {
			t.Errorf("%s has %d deployment groups, want one for each of %d functions", test.stack, len(groups), len(functions))
		}
		for group, g := range groups {
			if g.DeploymentConfigName != "CodeDeployDefault.LambdaCanary10Percent10Minutes" {
				t.Errorf("%s of %s shifts traffic by %s, want 10 %% for ten minutes", group, test.stack, g.DeploymentConfigName)
			}
			var got []string
			for _, alarm := range g.AlarmConfiguration.Alarms {
				got = append(got, alarm.Name)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s is rolled back by %v, want %v", group, test.stack, got, want)
			}
		}
	}
}

// alarmsOnFunctions returns references to the alarms that read neither a metric of API Gateway nor its log.
func alarmsOnFunctions(t *testing.T, s stack) (names []string) {
	t.Helper()
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	for name, a := range properties[alarm](t, s, "AWS::CloudWatch::Alarm") {
		isOnAPI := func(q query) bool {
			filter, isOurs := emitter(filters, q.MetricStat.Metric)
			return q.MetricStat.Metric.Namespace == "AWS/ApiGateway" || isOurs && filter.LogGroupName == "${AccessLog}"
		}
		if !slices.ContainsFunc(a.Metrics, isOnAPI) {
			names = append(names, "${"+name+"}")
		}
	}
	slices.Sort(names)
	return names
}

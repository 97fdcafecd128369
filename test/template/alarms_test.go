package template

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// alarms are what each alarm watches: a statistic of a minute, above which value
// it rings, and in how many minutes of how many if not at the first.
var alarms = map[string]string{
	"InternalErrorsAlarm":       "Sum InternalErrors > 0",
	"ErrorRateAlarm":            "100 * (Sum Unavailable + Sum OutcomeUnknown) / SampleCount Duration > 1 in 2 of 3",
	"CreatePlantErrorsAlarm":    "Sum Errors CreatePlantFunction > 0",
	"CreatePlantThrottlesAlarm": "Sum Throttles CreatePlantFunction > 0",
	"CreatePlantDurationAlarm":  "p99 Duration CreatePlantFunction > 500 in 2 of 3",
	"AuthorizerErrorsAlarm":     "Sum Errors AuthorizerFunction > 0",
	"AuthorizerThrottlesAlarm":  "Sum Throttles AuthorizerFunction > 0",
	"LatencyAlarm":              "p99 Latency HttpApi > 1000 in 2 of 3",
	"GatewayAlarm":              "Sum 5xx HttpApi > 0",
	"PlantsThrottlesAlarm":      "Sum WriteThrottleEvents PlantsTable > 0",
	"PlantsSystemErrorsAlarm":   "Sum SystemErrors PlantsTable > 0",
	"TokensThrottlesAlarm":      "Sum ReadThrottleEvents TokensTable > 0",
	"TokensSystemErrorsAlarm":   "Sum SystemErrors TokensTable > 0",
}

func checkAlarms(p *problems, t template, emitted map[string]bool) {
	names := t.resources("AWS::CloudWatch::Alarm")
	if len(names) != len(alarms) {
		p.add("the alarms are %v, want those of %v", names, alarms)
	}
	const topic = "map[!If:[HasAlarmTopic [!Ref AlarmTopic] !Ref AWS::NoValue]]"
	for _, name := range names {
		properties, _ := t.at("Resources." + name + ".Properties").(map[string]any)
		watched, metrics := watches(properties)
		if watched != alarms[name] {
			p.add("%s watches %s, want %s", name, watched, alarms[name])
		}
		for _, m := range metrics {
			checkEmitted(p, t, name, m, emitted)
		}
		for property, want := range map[string]string{
			"AlarmActions": topic, "OKActions": topic,
			"ComparisonOperator": "GreaterThanThreshold", "TreatMissingData": "notBreaching",
			"ActionsEnabled": "<nil>", // which is true
		} {
			if got := fmt.Sprint(properties[property]); got != want {
				p.add("%s has %s %s, want %s", name, property, got, want)
			}
		}
	}
}

// watches returns what an alarm watches, as alarms has it, and its metrics: its
// own, or those of its expression.
func watches(alarm template) (string, []metric) {
	limit := " > " + alarm.text("Threshold")
	if of := alarm["EvaluationPeriods"]; of != 1 {
		limit += fmt.Sprintf(" in %v of %v", alarm["DatapointsToAlarm"], of)
	}
	if alarm["Metrics"] == nil {
		m := newMetric(alarm)
		return statistic(m, cmp.Or(alarm["Statistic"], alarm["ExtendedStatistic"]), alarm["Period"]) + limit, []metric{m}
	}
	var expression string
	var metrics []metric
	statistics := map[string]string{}
	for _, item := range alarm.list("Metrics") {
		part := template(item.(map[string]any))
		if part["Expression"] != nil {
			expression = part.text("Expression")
			continue
		}
		properties, _ := part.at("MetricStat.Metric").(map[string]any)
		m := newMetric(properties)
		metrics = append(metrics, m)
		statistics[part.text("Id")] = statistic(m, part.at("MetricStat.Stat"), part.at("MetricStat.Period"))
	}
	return regexp.MustCompile(`[a-z]\w*`).ReplaceAllStringFunc(expression, func(id string) string { return statistics[id] }) + limit, metrics
}

// statistic names a statistic of a metric, and the resource that it is of.
func statistic(m metric, name, seconds any) string {
	text := fmt.Sprint(name, " ", m.name)
	for dimension, value := range m.dimensions {
		if kinds[dimension] != "" {
			text += strings.TrimPrefix(value, "!Ref")
		}
	}
	if seconds != 60 {
		text += fmt.Sprintf(" of %v s", seconds)
	}
	return text
}

func newMetric(properties map[string]any) metric {
	m := metric{fmt.Sprint(properties["Namespace"]), fmt.Sprint(properties["MetricName"]), map[string]string{}}
	dimensions, _ := properties["Dimensions"].([]any)
	for _, dimension := range dimensions {
		d := template(dimension.(map[string]any))
		m.dimensions[d.text("Name")] = d.text("Value")
	}
	return m
}

// docs/operations.md says of each alarm what to do.
func TestEachAlarmHasItsInstructions(t *testing.T) {
	parsed, err := parseTemplate(read(t, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	operations := read(t, "docs/operations.md")
	for _, alarm := range parsed.resources("AWS::CloudWatch::Alarm") {
		if !regexp.MustCompile(`(?m)^\| (\w+, )*` + alarm + `(, \w+)* \|`).MatchString(operations) {
			t.Errorf("docs/operations.md has no row for %s", alarm)
		}
	}
}

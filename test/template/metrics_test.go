package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
)

// TestMetrics checks that something emits each metric that an alarm or the dashboard reads, that the dashboard shows
// each of ours, and that docs/operations.md has a row for each alarm.
func TestMetrics(t *testing.T) {
	template := parse(t, "template.yaml")
	emitted, readers := emittedMetrics(t, template), map[string]string{}
	for name := range dashboardMetrics(t, template) {
		readers[name] = "the dashboard"
	}
	for name, resource := range template.resources(t, filter) {
		if readers[emits(resource)] == "" {
			t.Errorf("the dashboard does not show %s, which %s emits", emits(resource), name)
		}
	}
	for name, resource := range template.resources(t, alarm) {
		own := tree{"MetricStat": tree{"Metric": resource["Properties"]}}
		for _, item := range append(resource.list("Properties.Metrics"), own) {
			m := item.(tree).sub("MetricStat.Metric")
			watched := m.text("Namespace") + " " + m.text("MetricName")
			for _, dimension := range m.list("Dimensions") {
				watched += " " + dimension.(tree).text("Name") + " " + dimension.(tree).text("Value")
			}
			if m["MetricName"] != nil {
				readers[plain(watched)] = name
			}
		}
		if find(`(?m)^\| (\w+, )*`+name+`(, \w+)* \|`, read(t, "docs/operations.md")) == nil {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
	}
	for name, reader := range readers {
		if !emitted.MatchString(name) {
			t.Errorf("%s reads %s, which nothing emits", reader, name)
		}
	}
}

// plain returns a metric without the syntax of intrinsic functions, of substitutions and of JSON.
func plain(metric string) string {
	return strings.NewReplacer("!Ref ", "", "!Sub ", "", "${", "", "}", "", `"`, "", ",", "").Replace(metric)
}

// emits returns the metric that a filter emits.
func emits(filter tree) string {
	transformation := filter.list("Properties.MetricTransformations")[0].(tree)
	return plain(transformation.text("MetricNamespace") + " " + transformation.text("MetricName"))
}

// emittedMetrics matches the metrics that AWS and our filters emit for the template's resources. Sources: the pages on
// metrics of the developer guides of Lambda, API Gateway (HTTP APIs) and DynamoDB.
func emittedMetrics(t *testing.T, template tree) *regexp.Regexp {
	t.Helper()
	var metrics []string
	for _, resource := range template.resources(t, filter) {
		metrics = append(metrics, emits(resource))
	}
	for kind, names := range map[string]string{
		function: "AWS/Lambda (ConcurrentExecutions|Duration|Errors|Invocations|Throttles) FunctionName ",
		httpAPI:  "AWS/ApiGateway (4xx|5xx|Count|DataProcessed|IntegrationLatency|Latency) ApiId ",
		table:    "AWS/DynamoDB (ConditionalCheckFailedRequests|ReadThrottleEvents|WriteThrottleEvents) TableName ",
	} {
		for name := range template.resources(t, kind) {
			metrics = append(metrics, names+name)
		}
	}
	for _, match := range find(`dynamodb:(\w+) Effect:Allow Resource:!GetAtt (\w+)\.Arn`, template.text("Resources")) {
		metrics = append(metrics,
			"AWS/DynamoDB (SuccessfulRequestLatency|SystemErrors) TableName "+match[2]+" Operation "+match[1])
	}
	return regexp.MustCompile("^(" + strings.Join(metrics, "|") + ")$")
}

// dashboardMetrics returns the metrics that the dashboard shows, each with its label.
func dashboardMetrics(t *testing.T, template tree) map[string]string {
	t.Helper()
	var dashboard struct {
		Widgets []struct{ Properties struct{ Metrics [][]any } }
	}
	body := strings.TrimPrefix(fmt.Sprint(template.at("Resources.Dashboard.Properties.DashboardBody")), "!Sub ")
	if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
		t.Fatalf("the dashboard is no JSON: %v", err)
	}
	shown := map[string]string{}
	for _, widget := range dashboard.Widgets {
		for _, row := range widget.Properties.Metrics {
			name, label, _ := strings.Cut(fmt.Sprint(row), " map[label:") // the options of the row
			shown[strings.Trim(plain(name), "[]")] = label
		}
	}
	return shown
}

// TestFilters checks that each metric filter counts those codes of our log lines that its label on the dashboard names,
// as "Invalid (1xxx)" does, or success; or takes a number from every line. Every code is counted.
func TestFilters(t *testing.T) {
	template := parse(t, "template.yaml")
	var log bytes.Buffer
	var line map[string]any
	handler := &api.Service{Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now}
	_, err := handler.Invoke(t.Context(), []byte("{}"))
	if err = cmp.Or(err, json.Unmarshal(log.Bytes(), &line)); err != nil || line["code"] == nil {
		t.Fatalf("the log line %v has no code (%v)", line, err)
	}
	labels, counted := dashboardMetrics(t, template), map[string]bool{}
	codes := []string{"0"}
	for _, code := range find(`const: (\d{4})`, read(t, "openapi.yaml")) {
		codes = append(codes, code[1])
	}
	for name, resource := range template.resources(t, filter) {
		group, pattern := resource.text("Properties.LogGroupName"), resource.text("Properties.FilterPattern")
		named := cmp.Or(find(`\(([\dx, ]+)\)|$`, labels[emits(resource)])[0][1], "0")
		key, values, quote := "code", codes, ""
		if group == "!Ref AccessLog" { // where the status is text
			key, values, quote = "status", strings.Fields("200 400 403 413 429 500 503"), `"`
		} else if !strings.Contains(text(template.resources(t, function)), "LogGroup:"+group+" ") {
			t.Errorf("%s reads %s, want a function's log", name, group)
		}
		value := resource.list("Properties.MetricTransformations")[0].(tree).text("MetricValue")
		if field, ok := strings.CutPrefix(value, "$."); ok {
			if named = "0, xxxx"; line[field] == nil {
				t.Errorf("%s takes the number %s, which the log line %v lacks", name, value, line)
			}
		}
		want := regexp.MustCompile("^(" + strings.NewReplacer("x", `\d`, ", ", "|").Replace(named) + ")$")
		for _, code := range values {
			line[key] = quote + code + quote
			got := matches(t, pattern, line)
			if got != want.MatchString(code) {
				t.Errorf("%s counts %s for %s %s = %t, want it to count %s", name, value, key, code, got, named)
			}
			if key == "code" {
				counted[code] = counted[code] || got && value == "1"
			}
		}
	}
	for code, ok := range counted {
		if !ok {
			t.Errorf("no metric counts the code %s", code)
		}
	}
}

// as "Invalid (1xxx)" does, or success; or takes a number from every line. Every code is counted.
// matches reports whether a metric filter's pattern matches a line. With the line's values it is a constant expression.
func matches(t *testing.T, pattern string, line map[string]any) bool {
	t.Helper()
	expression := strings.NewReplacer(" = ", " == ", "{", "", "}", "").Replace(pattern)
	for _, field := range find(`\$\.(\w+)`, expression) {
		expression = strings.ReplaceAll(expression, field[0], fmt.Sprint(line[field[1]]))
	}
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
	if err != nil {
		t.Fatalf("the filter pattern %s does not fit the log line %v: %v", pattern, line, err)
	}
	return constant.BoolVal(result.Value)
}

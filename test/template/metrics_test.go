package template

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
)

// TestMetrics checks that something emits each metric that an alarm or the dashboard reads, that the dashboard shows
// each of ours, and that docs/operations.md has a row for each alarm.
func TestMetrics(t *testing.T) {
	template := parse(t, "template.yaml")
	emitted, shown := emittedMetrics(t, template), dashboardMetrics(t, template)
	for name, resource := range template.resources(t, alarm) {
		own := tree{"MetricStat": tree{"Metric": resource["Properties"]}}
		for _, item := range append(resource.list("Properties.Metrics"), own) {
			m := item.(tree).sub("MetricStat.Metric")
			watched := m.text("Namespace") + " " + m.text("MetricName")
			for _, dimension := range m.list("Dimensions") {
				watched += " " + dimension.(tree).text("Name") + " " + dimension.(tree).text("Value")
			}
			if m["MetricName"] != nil && !emitted.MatchString(watched) {
				t.Errorf("%s watches %s, which nothing emits", name, watched)
			}
		}
		if find(`(?m)^\| (\w+, )*`+name+`(, \w+)* \|`, read(t, "docs/operations.md")) == nil {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
	}
	for name := range shown {
		if !emitted.MatchString(name) {
			t.Errorf("the dashboard shows %s, which nothing emits", name)
		}
	}
	for name, resource := range template.resources(t, filter) {
		if _, ok := shown[emits(resource)]; !ok {
			t.Errorf("the dashboard does not show %s, which %s emits", emits(resource), name)
		}
	}
}

// emits returns the metric that a filter emits.
func emits(filter tree) string {
	transformation := filter.list("Properties.MetricTransformations")[0].(tree)
	return transformation.text("MetricNamespace") + " " + transformation.text("MetricName")
}

// emittedMetrics matches the metrics that AWS and our filters emit for the template's resources. Sources: the pages on
// metrics of the developer guides of Lambda, API Gateway (HTTP APIs) and DynamoDB.
func emittedMetrics(t *testing.T, template tree) *regexp.Regexp {
	t.Helper()
	var metrics []string
	for kind, names := range map[string]string{
		function: "AWS/Lambda (ConcurrentExecutions|Duration|Errors|Invocations|Throttles) FunctionName",
		httpAPI:  "AWS/ApiGateway (4xx|5xx|Count|DataProcessed|IntegrationLatency|Latency) ApiId",
		table:    "AWS/DynamoDB (ConditionalCheckFailedRequests|ReadThrottleEvents|WriteThrottleEvents) TableName",
	} {
		for name := range template.resources(t, kind) {
			metrics = append(metrics, names+" !Ref "+name)
		}
	}
	roles := text(template.resources(t, role))
	for _, match := range find(`dynamodb:(\w+) Effect:Allow Resource:!GetAtt (\w+)\.Arn`, roles) {
		const names = "AWS/DynamoDB (SuccessfulRequestLatency|SystemErrors|ThrottledRequests) TableName"
		metrics = append(metrics, names+" !Ref "+match[2]+" Operation "+match[1])
	}
	for _, resource := range template.resources(t, filter) {
		metrics = append(metrics, regexp.QuoteMeta(emits(resource)))
	}
	return regexp.MustCompile("^(" + strings.Join(metrics, "|") + ")$")
}

// dashboardMetrics returns the metrics that the dashboard shows, each with its label.
func dashboardMetrics(t *testing.T, template tree) map[string]string {
	t.Helper()
	shown := map[string]string{}
	for _, resource := range template.resources(t, "AWS::CloudWatch::Dashboard") {
		body := strings.TrimPrefix(fmt.Sprint(resource.at("Properties.DashboardBody")), "!Sub ")
		body = regexp.MustCompile(`"\$\{(\w+)\}"`).ReplaceAllString(body, `"!Ref $1"`)
		body = strings.ReplaceAll(body, `["PlantStore/`, `["!Sub PlantStore/`)
		var dashboard struct {
			Widgets []struct{ Properties struct{ Metrics [][]any } }
		}
		if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
			t.Fatalf("the dashboard is no JSON: %v", err)
		}
		for _, widget := range dashboard.Widgets {
			for _, row := range widget.Properties.Metrics {
				options, ok := row[len(row)-1].(map[string]any)
				if ok {
					row = row[:len(row)-1]
				}
				shown[strings.Trim(fmt.Sprint(row), "[]")] = fmt.Sprint(options["label"])
			}
		}
	}
	return shown
}

// TestFilters checks that each metric filter counts those codes of our log lines that its label on the dashboard names,
// as "Invalid (1xxx)" does, or success; or takes a number from every line. Every code is counted.
func TestFilters(t *testing.T) {
	template := parse(t, "template.yaml")
	var log bytes.Buffer
	handler := &api.CreatePlant{Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now}
	if _, err := handler.Invoke(t.Context(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	codes := append(find(`const: (\d{4})`, read(t, "openapi.yaml")), []string{"", "0"})
	labels, counted := dashboardMetrics(t, template), map[string]bool{}
	for name, resource := range template.resources(t, filter) {
		group := resource.text("Properties.LogGroupName")
		if !strings.Contains(text(template.resources(t, function)), "LogGroup:"+group+">") {
			t.Errorf("%s reads %s, want a function's log", name, group)
		}
		value := resource.list("Properties.MetricTransformations")[0].(tree).text("MetricValue")
		named := find(`\(([\dx, ]+)\)|$`, labels[emits(resource)])[0][1]
		if named = cmp.Or(named, "0"); value != "1" {
			named = "x+"
		}
		want := regexp.MustCompile("^(" + strings.NewReplacer("x", `\d`, ", ", "|").Replace(named) + ")$")
		for _, code := range codes {
			var line map[string]any
			if err := json.Unmarshal(log.Bytes(), &line); err != nil || line["code"] == nil {
				t.Fatalf("the log line %s has no code (%v)", log.String(), err)
			}
			line["code"], _ = strconv.ParseFloat(code[1], 64)
			got := matches(t, resource.text("Properties.FilterPattern"), line)
			_, isNumber := line[strings.TrimPrefix(value, "$.")].(float64)
			if got != want.MatchString(code[1]) || isNumber != (value != "1") {
				t.Errorf("%s counts %s for code %s = %t, want it to count %s", name, value, code[1], got, named)
			}
			counted[code[1]] = counted[code[1]] || got && value == "1"
		}
	}
	for code, ok := range counted {
		if !ok {
			t.Errorf("no metric counts the code %s", code)
		}
	}
}

// matches reports whether a metric filter's pattern matches a line, as CloudWatch does.
func matches(t *testing.T, pattern string, line map[string]any) bool {
	t.Helper()
	return slices.ContainsFunc(strings.Split(strings.Trim(pattern, "{ }"), " || "), func(terms string) bool {
		return !slices.ContainsFunc(strings.Split(terms, " && "), func(term string) bool {
			var field, operator string
			var want float64
			if _, err := fmt.Sscanf(term, "$.%s %s %g", &field, &operator, &want); err != nil {
				t.Fatalf("this test does not understand %s in the filter pattern %s (%v)", term, pattern, err)
			}
			got, isNumber := line[field].(float64)
			return !isNumber || !map[string]bool{"=": got == want, ">=": got >= want, "<": got < want}[operator]
		})
	})
}

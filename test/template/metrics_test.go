package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const namespace = "!Sub PlantStore/${AWS::StackName}"

// documented are AWS's metrics, each with the dimensions under which it is kept.
// Sources: the pages on metrics of the developer guides of Lambda, API Gateway
// (HTTP APIs) and DynamoDB. An alarm on any other combination never rings.
var documented = map[string]string{
	"AWS/Lambda Errors":                "FunctionName",
	"AWS/Lambda Throttles":             "FunctionName",
	"AWS/Lambda Duration":              "FunctionName",
	"AWS/Lambda ConcurrentExecutions":  "FunctionName",
	"AWS/ApiGateway 4xx":               "ApiId",
	"AWS/ApiGateway 5xx":               "ApiId",
	"AWS/ApiGateway Latency":           "ApiId",
	"AWS/DynamoDB WriteThrottleEvents": "TableName",
	"AWS/DynamoDB ReadThrottleEvents":  "TableName",
	"AWS/DynamoDB SystemErrors":        "Operation TableName",
}

// kinds are the types of the resources whose names are values of a dimension.
var kinds = map[string]string{
	"FunctionName": "AWS::Serverless::Function",
	"ApiId":        "AWS::Serverless::HttpApi",
	"TableName":    "AWS::DynamoDB::Table",
}

// operations are what the functions do on each table.
var operations = map[string]string{"!Ref PlantsTable": "PutItem", "!Ref TokensTable": "GetItem"}

// metric is what an alarm or a dashboard reads.
type metric struct {
	namespace, name string
	dimensions      map[string]string
}

// checkMetrics holds metric filters, alarms and dashboard together.
func checkMetrics(p *problems, t template) {
	emitted := map[string]bool{}
	for _, filter := range t.resources("AWS::Logs::MetricFilter") {
		for _, transformation := range t.list("Resources." + filter + ".Properties.MetricTransformations") {
			part, _ := transformation.(map[string]any)
			if part["MetricNamespace"] != namespace || part["Dimensions"] != nil {
				p.add("%s emits to %v with dimensions %v, want %s and none", filter, part["MetricNamespace"], part["Dimensions"], namespace)
			}
			emitted[fmt.Sprint(part["MetricName"])] = true
		}
	}
	checkAlarms(p, t, emitted)
	shown := dashboardMetrics(p, t)
	for _, m := range shown {
		checkEmitted(p, t, "the dashboard", m, emitted)
	}
	for name := range emitted {
		if !slices.ContainsFunc(shown, func(m metric) bool { return m.namespace == namespace && m.name == name }) {
			p.add("the dashboard does not show %s", name)
		}
	}
}

// dashboardMetrics returns what the dashboard shows.
func dashboardMetrics(p *problems, t template) []metric {
	body := strings.TrimPrefix(t.text("Resources.Dashboard.Properties.DashboardBody"), "!Sub ")
	var dashboard struct {
		Widgets []struct {
			Properties struct{ Metrics [][]any }
		}
	}
	if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
		p.add("the dashboard is no JSON: %v", err)
	}
	var shown []metric
	for _, widget := range dashboard.Widgets {
		for _, row := range widget.Properties.Metrics {
			m := metric{dimensions: map[string]string{}}
			var texts []string
			for _, item := range row {
				if text, ok := item.(string); ok {
					texts = append(texts, regexp.MustCompile(`^\$\{(\w+)\}$`).ReplaceAllString(text, "!Ref $1"))
				}
			}
			m.namespace, m.name = texts[0], texts[1]
			if strings.Contains(m.namespace, "$") {
				m.namespace = "!Sub " + m.namespace
			}
			for pair := range slices.Chunk(texts[2:], 2) {
				m.dimensions[pair[0]] = pair[len(pair)-1]
			}
			shown = append(shown, m)
		}
	}
	return shown
}

// checkEmitted complains about a metric that nothing emits.
func checkEmitted(p *problems, t template, by string, m metric, own map[string]bool) {
	names := strings.Join(slices.Sorted(maps.Keys(m.dimensions)), " ")
	if m.namespace == namespace {
		if !own[m.name] || names != "" {
			p.add("%s reads %s with dimensions %q, which no metric filter emits", by, m.name, names)
		}
		return
	}
	if want, known := documented[m.namespace+" "+m.name]; !known || names != want {
		p.add("%s reads %s %s by %q, and AWS emits it by %q", by, m.namespace, m.name, names, want)
	}
	for name, value := range m.dimensions {
		resource, isRef := strings.CutPrefix(value, "!Ref ")
		if kind := kinds[name]; kind != "" && (!isRef || !slices.Contains(t.resources(kind), resource)) {
			p.add("%s reads %s of %s %s, which is no %s", by, m.name, name, value, kind)
		}
		if name == "Operation" && value != operations[m.dimensions["TableName"]] {
			p.add("%s reads %s of %s on %s, which no function does", by, m.name, value, m.dimensions["TableName"])
		}
	}
}

package template

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

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

// isFigure reports whether a filter takes the value of its metric from the line, and does
// not count.
func (f filter) isFigure() bool {
	return len(f.MetricTransformations) > 0 && f.MetricTransformations[0].MetricValue != "1"
}

// namespace is that of the metrics from our logs. It names the stack, so stacks share none.
var namespace = substitution{"PlantStore/${AWS::StackName}"}

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

// emits reports whether a filter emits a metric, if the namespace is ours, or else AWS.
func emits(filters map[string]filter, m metric) bool {
	if equal(m.Namespace, namespace) {
		_, found := filters[m.MetricName+"Metric"]
		return found
	}
	service, _ := m.Namespace.(string)
	known := documented[service]
	return slices.Contains(known.names, m.MetricName) && len(m.Dimensions) == 1 && m.Dimensions[0].Name == known.dimension
}

// TestDashboard checks that something emits each metric on the dashboard, and that the
// dashboard shows some of ours.
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
	ours := 0
	for _, widget := range body.Widgets {
		var above []any
		for _, row := range widget.Properties.Metrics {
			for i := range row {
				if row[i] == "." {
					row[i] = above[i]
				}
			}
			above = row
			if len(row) == 1 {
				continue // an expression
			}
			m := shown(row)
			if equal(m.Namespace, namespace) {
				ours++
			}
			if !emits(filters, m) {
				t.Errorf("the dashboard shows %+v, which nothing emits", m)
			}
		}
	}
	if ours == 0 {
		t.Error("the dashboard shows none of our metrics")
	}
}

// shown returns the metric of a row of the dashboard: namespace, name, and perhaps a dimension.
func shown(row []any) metric {
	m := metric{Namespace: row[0]}
	m.MetricName, _ = row[1].(string)
	if row[0] == namespace.Sub { // the whole body is a substitution
		m.Namespace = namespace
		return m
	}
	if len(row) > 3 {
		m.Dimensions = []dimension{{Name: row[2], Value: row[3]}}
	}
	return m
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
			if f.isFigure() && !slices.Contains(f.fields(), m.MetricValue) {
				t.Errorf("its value is %s, want 1 or a field of the pattern", m.MetricValue)
			}
			if m.DefaultValue != nil && m.Dimensions != nil {
				t.Error("it has DefaultValue and Dimensions, which CloudWatch refuses")
			}
			if m.DefaultValue != nil && f.isFigure() {
				t.Errorf("its figure is %v if no line has one, want none", m.DefaultValue)
			}
		})
	}
}

// fields returns the fields that a pattern reads, such as $.code.
func (f filter) fields() []string { return field.FindAllString(f.FilterPattern, -1) }

// A line is a line of the functions' log, as far as the metric filters read it.
type line struct {
	Msg           string `json:"msg"`
	Subject       string `json:"subject"`
	DurationMS    int    `json:"duration_ms"`
	Code          int    `json:"code"`
	ExpiresInDays *int   `json:"expires_in_days,omitempty"`
}

// TestCounts checks which metric filters count a line.
func TestCounts(t *testing.T) {
	const (
		create    = "create plant"
		authorize = "authorize"
		requests  = "RequestsMetric"
		errors    = "ErrorsMetric"
		degraded  = "DegradedMetric"
		refusals  = "RefusalsMetric"
		tokenDays = "TokenDaysMetric"
	)
	checkCounts(t, "Log", []counted{
		{"a plant is created", line{Msg: create, DurationMS: 500, Code: 0}, []string{requests}},
		{"a plant is created slowly", line{Msg: create, DurationMS: 501, Code: 0}, []string{degraded, requests}},
		{"a request is invalid", line{Msg: create, Code: 1001}, []string{refusals, requests}},
		{"a request of deploy/smoke-test is invalid", line{Msg: create, Subject: "smoke-test", Code: 1006}, []string{requests}},
		{"there is no token", line{Msg: create, Code: 2001}, []string{requests}},
		{"the header is malformed", line{Msg: create, Code: 2002}, []string{requests}},
		{"the token is invalid", line{Msg: create, Code: 2003}, []string{refusals, requests}},
		{"the id exists", line{Msg: create, Code: 3001}, []string{requests}},
		{"an internal error", line{Msg: create, DurationMS: 501, Code: 5001}, []string{errors, requests}},
		{"the store is unavailable", line{Msg: create, Code: 5002}, []string{degraded, requests}},
		{"the outcome is unknown", line{Msg: create, Code: 5004}, []string{degraded, requests}},

		// The operation logs these requests too.
		{"the authorizer refuses a token", line{Msg: authorize, Code: 2003}, nil},
		{"the authorizer's store is unavailable", line{Msg: authorize, DurationMS: 501, Code: 5003}, nil},
		{"the authorizer is slow", line{Msg: authorize, DurationMS: 501, Code: 0}, []string{degraded}},
		{"the authorizer has an internal error", line{Msg: authorize, Code: 5001}, []string{errors}},
		{"a token expires soon", line{Msg: authorize, Code: 0, ExpiresInDays: new(13)}, []string{tokenDays}},
	})
	type access struct {
		Status string `json:"status"`
	}
	checkCounts(t, "AccessLog", []counted{
		{"the gateway passes an answer on", access{"400"}, nil},
		{"the gateway throttles", access{"429"}, []string{"ThrottledMetric"}},
	})
}

// counted is a line, and the metric filters that count it.
type counted struct {
	name string
	line any
	want []string
}

// jqSyntax translates the operators of a pattern to jq's.
var jqSyntax = strings.NewReplacer("{", "", "}", "", "$.", ".", " = ", " == ", "&&", "and", "||", "or")

// checkCounts checks which of the filters of a log count each line.
func checkCounts(t *testing.T, log string, rows []counted) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		processtest.Lacks(t, "jq")
	}
	// jq takes long to start, so it gets all lines at once.
	lines := map[string]any{}
	for _, row := range rows {
		lines[row.name] = row.line
	}
	input, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for name, f := range properties[filter](t, production(t), "AWS::Logs::MetricFilter") {
		if f.LogGroupName.Ref != log {
			continue
		}
		jq := exec.CommandContext(t.Context(), "jq", "map_values("+jqSyntax.Replace(f.FilterPattern)+")")
		jq.Stdin = bytes.NewReader(input)
		output, err := jq.Output()
		if err != nil {
			t.Fatalf("%s: jq %s: %v", name, f.FilterPattern, err)
		}
		var counts map[string]bool
		if err := json.Unmarshal(output, &counts); err != nil {
			t.Fatal(err)
		}
		for row, isCounted := range counts {
			if isCounted {
				got[row] = append(got[row], name)
			}
		}
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			slices.Sort(got[row.name])
			if !slices.Equal(got[row.name], row.want) {
				t.Errorf("%+v is counted by %v, want %v", row.line, got[row.name], row.want)
			}
		})
	}
}

package template

import (
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

// namespace is that of the metrics from our logs. It names the stack, so stacks share none.
var namespace = substitution{"PlantStore/${AWS::StackName}"}

// documented are the names of AWS's metrics. Sources: Lambda Developer Guide, "Types of
// metrics for Lambda functions"; API Gateway Developer Guide, "Monitor CloudWatch metrics
// for HTTP APIs".
var documented = map[string][]string{
	"AWS/Lambda":     {"ConcurrentExecutions", "Duration", "Errors", "Invocations", "Throttles"},
	"AWS/ApiGateway": {"4xx", "5xx", "Count", "DataProcessed", "IntegrationLatency", "Latency"},
}

// emits reports whether a filter emits a metric, if the namespace is ours, or else AWS.
func emits(filters map[string]filter, space any, name string) bool {
	if equal(space, namespace) {
		_, found := filters[name+"Metric"]
		return found
	}
	service, _ := space.(string)
	return slices.Contains(documented[service], name)
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
		var space any
		for _, row := range widget.Properties.Metrics {
			if len(row) == 1 {
				continue // an expression
			}
			if row[0] != "." { // which repeats the namespace of the row above
				space = row[0]
			}
			if space == namespace.Sub { // the whole body is a substitution
				space = namespace
			}
			if space == namespace {
				ours++
			}
			name, _ := row[1].(string)
			if !emits(filters, space, name) {
				t.Errorf("the dashboard shows %s in %v, which nothing emits", name, space)
			}
		}
	}
	if ours == 0 {
		t.Error("the dashboard shows none of our metrics")
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

// TestCounts checks which metrics count a line of the functions' log, or of the access log.
func TestCounts(t *testing.T) {
	t.Parallel()
	filters := properties[filter](t, production(t), "AWS::Logs::MetricFilter")
	tests := []struct {
		name string
		log  string
		line string
		want []string // filters
	}{
		{
			name: "a plant is created", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":500,"code":0}`,
			want: []string{"RequestsMetric"},
		},
		{
			name: "a plant is created slowly", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":501,"code":0}`,
			want: []string{"DegradedMetric", "RequestsMetric"},
		},
		{
			name: "a request is invalid", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":1,"code":1001}`,
			want: []string{"RefusalsMetric", "RequestsMetric"},
		},
		{
			name: "an invalid request of .ci/smoke-test", log: "Log", line: `{"msg":"create plant","subject":"smoke-test","duration_ms":1,"code":1006}`,
			want: []string{"RequestsMetric"},
		},
		{
			name: "there is no token", log: "Log", line: `{"msg":"create plant","subject":"","duration_ms":1,"code":2001}`,
			want: []string{"RequestsMetric"},
		},
		{
			name: "a header is malformed", log: "Log", line: `{"msg":"create plant","subject":"","duration_ms":1,"code":2002}`,
			want: []string{"RequestsMetric"},
		},
		{
			name: "a token is invalid", log: "Log", line: `{"msg":"create plant","subject":"","duration_ms":1,"code":2003}`,
			want: []string{"RefusalsMetric", "RequestsMetric"},
		},
		{
			name: "an id exists", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":1,"code":3001}`,
			want: []string{"RequestsMetric"},
		},
		{
			name: "an internal error", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":501,"code":5001}`,
			want: []string{"ErrorsMetric", "RequestsMetric"},
		},
		{
			name: "a store is unavailable", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":1,"code":5002}`,
			want: []string{"DegradedMetric", "RequestsMetric"},
		},
		{
			name: "an outcome is unknown", log: "Log", line: `{"msg":"create plant","subject":"alice","duration_ms":1,"code":5004}`,
			want: []string{"DegradedMetric", "RequestsMetric"},
		},

		// The operation logs these requests too.
		{name: "the authorizer refuses a token", log: "Log", line: `{"msg":"authorize","subject":"","duration_ms":1,"code":2003}`},
		{name: "the authorizer's store is unavailable", log: "Log", line: `{"msg":"authorize","subject":"","duration_ms":501,"code":5003}`},
		{
			name: "the authorizer is slow", log: "Log", line: `{"msg":"authorize","subject":"alice","duration_ms":501,"code":0}`,
			want: []string{"DegradedMetric"},
		},
		{
			name: "an internal error of the authorizer", log: "Log", line: `{"msg":"authorize","subject":"","duration_ms":1,"code":5001}`,
			want: []string{"ErrorsMetric"},
		},
		{
			name: "a token expires soon", log: "Log", line: `{"msg":"authorize","subject":"alice","duration_ms":1,"code":0,"expires_in_days":13}`,
			want: []string{"TokenDaysMetric"},
		},

		{name: "the gateway passes an answer on", log: "AccessLog", line: `{"status":"400"}`},
		{name: "the gateway throttles", log: "AccessLog", line: `{"status":"429"}`, want: []string{"ThrottledMetric"}},
	}
	var lines []string
	for _, test := range tests {
		lines = append(lines, test.line)
	}
	counted := map[string][]bool{}
	for name, f := range filters {
		counted[name] = f.counts(t, lines)
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for name, f := range filters {
				if f.LogGroupName.Ref == test.log && counted[name][i] {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s is counted by %v, want %v", test.line, got, test.want)
			}
		})
	}
}

// jqSyntax translates the operators of a pattern to jq's.
var jqSyntax = strings.NewReplacer("{", "", "}", "", "$.", ".", " = ", " == ", "&&", "and", "||", "or")

// counts reports which lines a filter counts.
func (f filter) counts(t *testing.T, lines []string) (counted []bool) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		processtest.Lacks(t, "jq")
	}
	jq := exec.CommandContext(t.Context(), "jq", jqSyntax.Replace(f.FilterPattern))
	jq.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	out, err := jq.Output()
	if err != nil {
		t.Fatalf("jq %s: %v", f.FilterPattern, err)
	}
	for result := range strings.FieldsSeq(string(out)) {
		counted = append(counted, result == "true")
	}
	return counted
}

package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
)

type filter struct {
	LogGroupName          ref
	FilterPattern         string
	MetricTransformations []transformation
}

type transformation struct {
	MetricNamespace any
	MetricName      string
	MetricValue     string
}

// filters returns the metric filters of the stack.
func filters(t *testing.T, s stack) map[string]filter {
	t.Helper()
	return properties[filter](t, s, "AWS::Logs::MetricFilter")
}

// emitter returns the filter that emits a metric, if there is one.
func emitter(filters map[string]filter, m metric) (filter, bool) {
	for _, f := range filters {
		emitted := f.MetricTransformations[0]
		if emitted.MetricName == m.MetricName && equal(emitted.MetricNamespace, m.Namespace) {
			return f, true
		}
	}
	return filter{}, false
}

// TestFilters checks that stacks share no metric: its namespace names the stack.
func TestFilters(t *testing.T) {
	for name, f := range filters(t, production(t)) {
		emitted := f.MetricTransformations[0]
		if want := map[string]string{"Fn::Sub": "PlantStore/${AWS::StackName}"}; !equal(emitted.MetricNamespace, want) {
			t.Errorf("%s emits its metric in %v, want %v", name, emitted.MetricNamespace, want)
		}
	}
}

// TestCounts checks which metric filters count a line.
func TestCounts(t *testing.T) {
	const (
		create    = "create plant"
		authorize = "authorize"
	)
	filters := filters(t, production(t))
	for _, row := range []struct {
		name    string
		msg     string
		code    int
		took    int // milliseconds
		subject string
		want    []string
	}{
		{"a plant is created", create, 0, 500, "alice", []string{"RequestsMetric"}},
		{"a plant is created slowly", create, 0, 501, "alice", []string{"DegradedMetric", "RequestsMetric"}},
		{"a request is invalid", create, 1001, 1, "alice", []string{"RefusalsMetric", "RequestsMetric"}},
		{"an invalid request is refused slowly", create, 1005, 501, "alice", []string{"DegradedMetric", "RefusalsMetric", "RequestsMetric"}},
		{"a request of deploy/smoke-test is invalid", create, 1006, 1, "smoke-test", []string{"RequestsMetric"}},
		{"there is no token", create, 2001, 501, "", nil},
		{"the token is invalid", create, 2003, 501, "", nil},
		{"the id exists, and that takes long", create, 3001, 501, "alice", []string{"DegradedMetric", "RequestsMetric"}},
		{"an internal error", create, 5001, 501, "alice", []string{"ErrorsMetric", "RequestsMetric"}},
		{"the store is unavailable", create, 5002, 501, "alice", []string{"DegradedMetric", "RequestsMetric"}},
		{"tokens cannot be checked", create, 5003, 1, "", []string{"DegradedMetric", "RequestsMetric"}},
		{"the outcome is unknown", create, 5004, 501, "alice", []string{"DegradedMetric", "RequestsMetric"}},

		// The operation logs these requests too.
		{"the authorizer is slow", authorize, 0, 501, "alice", []string{"DegradedMetric"}},
		{"the authorizer refuses a token slowly", authorize, 2003, 501, "", nil},
		{"the authorizer has an internal error", authorize, 5001, 1, "", []string{"ErrorsMetric"}},
		{"the authorizer's store is unavailable", authorize, 5003, 501, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			line := loggedLine(t)
			maps.Copy(line, map[string]any{"msg": row.msg, "code": row.code, "duration_ms": row.took, "subject": row.subject})
			checkCounts(t, filters, "Log", line, row.want)
		})
	}
	t.Run("the gateway passes an answer on", func(t *testing.T) {
		checkCounts(t, filters, "AccessLog", map[string]any{"status": "400"}, nil)
	})
	t.Run("the gateway throttles", func(t *testing.T) {
		checkCounts(t, filters, "AccessLog", map[string]any{"status": "429"}, []string{"ThrottledMetric"})
	})
}

// loggedLine returns a line that an operation has logged.
func loggedLine(t *testing.T) (line map[string]any) {
	t.Helper()
	var log bytes.Buffer
	service := &api.Service{Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now}
	if _, err := service.Invoke(t.Context(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	return line
}

// checkCounts checks which of the filters of a log count a line.
func checkCounts(t *testing.T, filters map[string]filter, log string, line map[string]any, want []string) {
	t.Helper()
	var got []string
	for name, f := range filters {
		if f.LogGroupName.Ref == log && f.counts(t, line) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v is counted by %v, want %v", line, got, want)
	}
}

var field = regexp.MustCompile(`\$\.\w+`)

// counts reports whether a filter counts a line. With the line's values in place of its fields, a
// pattern of comparisons is an expression of Go, but for braces and a sign. The line must have every
// field.
func (f filter) counts(t *testing.T, line map[string]any) bool {
	t.Helper()
	expression := strings.NewReplacer("{", "(", "}", ")", " = ", " == ").Replace(f.FilterPattern)
	expression = field.ReplaceAllStringFunc(expression, func(field string) string {
		value, found := line[strings.TrimPrefix(field, "$.")]
		if !found {
			t.Errorf("%s reads %s, which %v lacks", f.FilterPattern, field, line)
		}
		return fmt.Sprintf("%#v", value)
	})
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
	if err != nil || result.Value == nil || result.Value.Kind() != constant.Bool {
		t.Fatalf("%s is %s = %v, %v, want true or false", f.FilterPattern, expression, result.Value, err)
	}
	return constant.BoolVal(result.Value)
}

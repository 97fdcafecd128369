package template

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCounts checks which metric filters count a line of a function.
func TestCounts(t *testing.T) {
	const (
		create    = "create plant"
		authorize = "authorize"
	)
	for _, row := range []struct {
		name    string
		msg     string
		code    int
		took    int // milliseconds
		subject string
		want    []string
	}{
		{name: "a plant is created", msg: create, took: 500, want: []string{"RequestsMetric"}},
		{name: "a plant is created slowly", msg: create, took: 501, want: []string{"DegradedMetric", "RequestsMetric"}},
		{
			name: "an invalid request is refused slowly", msg: create, code: 1005, took: 501,
			want: []string{"DegradedMetric", "RefusalsMetric", "RequestsMetric"},
		},
		{name: "a request of deploy/smoke-test is invalid", msg: create, code: 1006, subject: "smoke-test", want: []string{"RequestsMetric"}},
		{name: "there is no token", msg: create, code: 2001, took: 501},
		{name: "the id exists, and that takes long", msg: create, code: 3001, took: 501, want: []string{"DegradedMetric", "RequestsMetric"}},
		{name: "an internal error, which takes long", msg: create, code: 5001, took: 501, want: []string{"ErrorsMetric", "RequestsMetric"}},
		{name: "the store is unavailable", msg: create, code: 5002, want: []string{"DegradedMetric", "RequestsMetric"}},
		{name: "the outcome is unknown", msg: create, code: 5004, want: []string{"DegradedMetric", "RequestsMetric"}},

		// The operation logs these requests too.
		{name: "the authorizer is slow", msg: authorize, took: 501, want: []string{"DegradedMetric"}},
		{name: "the authorizer has an internal error", msg: authorize, code: 5001, want: []string{"ErrorsMetric"}},
		{name: "the authorizer's store is unavailable", msg: authorize, code: 5003, took: 501},
	} {
		t.Run(row.name, func(t *testing.T) {
			line := object{"msg": row.msg, "code": row.code, "duration_ms": row.took, "subject": row.subject}
			checkCounts(t, "Log", line, row.want)
		})
	}
}

// TestAccessLog checks that the access log has nothing that a client sends, and that 429 is counted.
func TestAccessLog(t *testing.T) {
	type stage struct {
		AccessLogSettings struct{ Format string }
	}
	format := properties[stage](t, production(t), "AWS::ApiGatewayV2::Stage")["HttpApiApiGatewayDefaultStage"].AccessLogSettings.Format
	for _, variable := range []string{"$context.identity.", "$context.path", "$context.httpMethod", "$context.protocol", "$context.authorizer.claims"} {
		if strings.Contains(format, variable) {
			t.Errorf("the access log has %s, which a client sends", variable)
		}
	}
	for status, want := range map[string][]string{"400": nil, "429": {"ThrottledMetric"}} {
		var line object
		logged := strings.Replace(format, "$context.status", status, 1)
		if err := json.Unmarshal([]byte(logged), &line); err != nil {
			t.Fatalf("%s: %v", logged, err)
		}
		checkCounts(t, "AccessLog", line, want)
	}
}

// checkCounts checks which of the filters of a log count a line.
func checkCounts(t *testing.T, log string, line object, want []string) {
	t.Helper()
	var got []string
	for name, f := range properties[filter](t, production(t), "AWS::Logs::MetricFilter") {
		if named(f.LogGroupName) == log && f.counts(t, line) {
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
func (f filter) counts(t *testing.T, line object) bool {
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

package template

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/api"
	"plantstore/internal/token"
)

// alarm is what the rules read of an AWS::CloudWatch::Alarm.
type alarm struct {
	AlarmDescription                     string
	EvaluationPeriods, DatapointsToAlarm int
	Period                               int // seconds, of an alarm on one metric
	Threshold                            any
	Metrics                              []struct { // of another alarm: an expression, and the metrics that it reads
		ID, Expression string
		MetricStat     struct{ Period int } // seconds
	}
}

// TestAlarms checks that the text of an alarm, which arrives by mail, says when it fires, and ends with its
// page, which exists.
func TestAlarms(t *testing.T) {
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range properties[alarm](t, production(t), "AWS::CloudWatch::Alarm") {
		if !strings.Contains(string(operations), "\n### "+name+"\n") {
			t.Errorf("docs/operations.md has no section %s", name)
		}
		if page := " ${Documents}/operations.md#" + strings.ToLower(name); !strings.HasSuffix(a.AlarmDescription, page) {
			t.Errorf("%s says %q, want it to end with %q", name, a.AlarmDescription, page)
		}
		minutes := a.Period / 60
		if len(a.Metrics) > 0 {
			minutes = a.Metrics[1].MetricStat.Period / 60
		}
		said := []string{fmt.Sprintf("In %d of %d minutes, ", a.DatapointsToAlarm*minutes, a.EvaluationPeriods*minutes)}
		if name != "ErrorsAlarm" && name != "ExpiredAlarm" {
			said = append(said, a.share(t, name, minutes)...)
		}
		for _, text := range said {
			if !strings.Contains(a.AlarmDescription, text) {
				t.Errorf("%s says %q, want %q in it", name, a.AlarmDescription, text)
			}
		}
	}
}

// share checks that an alarm watches how many percent its first metric is of the second, from a least count
// on, because single requests of a quiet hour are no alarm. It returns how the text must say that.
func (a alarm) share(t *testing.T, name string, minutes int) (said []string) {
	t.Helper()
	var least int
	counted, all := a.Metrics[1].ID, a.Metrics[2].ID
	_, err := fmt.Sscanf(a.Metrics[0].Expression, "IF("+counted+" >= %d, 100 * "+counted+" / "+all+", 0)", &least)
	if err != nil {
		t.Errorf("%s watches %s, want the percentage of the two metrics, from a least count on", name, a.Metrics[0].Expression)
	}
	interval := "a minute"
	if minutes > 1 {
		interval = fmt.Sprintf("in %d minutes", minutes)
	}
	threshold := named(fmt.Sprint(a.Threshold)) // a number, or a parameter
	return []string{"more than " + threshold + " ", fmt.Sprintf(" of the requests, and %d %s, ", least, interval)}
}

// TestDegraded checks that the query of DegradedAlarm finds the lines that DegradedMetric counts.
func TestDegraded(t *testing.T) {
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	query := strings.NewReplacer("{ ", "filter ", "$.", "", "&&", "and", "||", "or", " }", " | stats ")
	want := "\n# degraded\n" + query.Replace(production(t).Nodes["DegradedMetric.FilterPattern"])
	if !strings.Contains(string(operations), want) {
		t.Errorf("docs/operations.md does not have the query %q", want)
	}
}

// TestExpired checks that ExpiredMetric counts the line that the authorizer writes of a client's expired token.
// It does not count JWTs: they expire every hour, and their clients then fetch new ones. // part: jwt
// It counts no other refusal.
func TestExpired(t *testing.T) {
	pattern := production(t).Nodes["ExpiredMetric.FilterPattern"]
	alice := token.Principal{Subject: "alice", TokenID: "0123456789ab"}
	for _, row := range []struct {
		name      string
		principal token.Principal
		err       error
		want      bool
	}{
		{"a client's expired token", alice, token.ReasonExpired, true},
		{"a revoked token", alice, token.ReasonRevoked, false},
		{"an expired JWT, whose claims are not logged", token.Principal{}, token.ReasonExpired, false}, // part: jwt
		{"a token of deploy/smoke-test", token.Principal{Subject: "smoke-test", TokenID: "a"}, token.ReasonExpired, false},
		{"its second token", token.Principal{Subject: "smoke-test-other", TokenID: "a"}, token.ReasonExpired, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var line bytes.Buffer
			authorizer := api.Authorizer{
				Tokens: verified{principal: row.principal, err: row.err},
				Log:    slog.New(slog.NewJSONHandler(&line, nil)),
			}
			event := `{"headers":{"authorization":"Bearer a"}}`
			if _, err := authorizer.Invoke(t.Context(), []byte(event)); err != nil {
				t.Fatal(err)
			}
			if got := matches(t, pattern, line.Bytes()); got != row.want {
				t.Errorf("%s matches %s = %t, want %t", pattern, &line, got, row.want)
			}
		})
	}
}

// verified is a [token.Verifier] that returns this for every token.
type verified struct {
	principal token.Principal
	err       error
}

func (v verified) Verify(context.Context, string) (token.Principal, error) { return v.principal, v.err }

// matches reports whether a line matches a filter pattern.
// TestRehearsal shows the pattern to CloudWatch itself. // part: local-aws,github
// The pattern compares members with texts, and joins the comparisons by &&.
func matches(t *testing.T, pattern string, line []byte) bool {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(line, &members); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "{ $."), " }")
	for comparison := range strings.SplitSeq(pattern, " && $.") {
		words := strings.Fields(comparison) // a member, an operator and a text
		got := fmt.Sprint(members[words[0]])
		expression, isExpression := strings.CutPrefix(words[2], "%")
		isEqual := strconv.Quote(got) == words[2]
		if isExpression {
			isEqual = regexp.MustCompile(strings.TrimSuffix(expression, "%")).MatchString(got)
		}
		if isEqual != (words[1] == "=") {
			return false
		}
	}
	return true
}

// TestCrashes checks that ErrorsAlarm reads the errors of each function that Lambda counts, because a crash logs
// no line of ours.
func TestCrashes(t *testing.T) {
	s := production(t)
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		want := `{"Metric":{"Dimensions":[{"Name":"FunctionName","Value":"${` + name + `}"}],"MetricName":"Errors","Namespace":"AWS/Lambda"},"Period":60,"Stat":"Sum"}`
		if got := s.Nodes["ErrorsAlarm.Metrics"]; !strings.Contains(got, want) {
			t.Errorf("ErrorsAlarm reads %s, want %s in it", got, want)
		}
	}
}

// TestCanary checks that staging and production have a canary. dev, and a deployment at once, have none:
// CodeDeploy would reject a fix while an alarm fires.
func TestCanary(t *testing.T) {
	for name, want := range map[string]bool{
		"dev gradual": false, "staging gradual": true, gradual: true, "production at-once": false,
	} {
		for _, function := range []string{"CreatePlantFunction", "AuthorizerFunction"} {
			if _, got := translated(t).Stacks[name].Resources[function+"DeploymentGroup"]; got != want {
				t.Errorf("%s of %s has a canary = %t, want %t", function, name, got, want)
			}
		}
	}
}

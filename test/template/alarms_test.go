package template

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
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
		MetricStat     struct {
			Period int // seconds
			Metric struct {
				Namespace, MetricName string
				Dimensions            []struct{ Value string }
			}
		}
	}
}

// TestAlarms checks that the text of an alarm, which arrives by mail, says when it fires, and ends with its
// page, which exists.
func TestAlarms(t *testing.T) {
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range resources[alarm](t, production(t), "AWS::CloudWatch::Alarm") {
		if !strings.Contains(string(operations), "\n### "+name+"\n") {
			t.Errorf("docs/operations.md has no section %s", name)
		}
		if page := " ${Documents}/operations.md#" + strings.ToLower(name); !strings.HasSuffix(a.AlarmDescription, page) {
			t.Errorf("%s says %q, want it to end with %q", name, a.AlarmDescription, page)
		}
		minutes := a.minutes()
		said := []string{fmt.Sprintf("In %d of %d minutes, ", a.DatapointsToAlarm*minutes, a.EvaluationPeriods*minutes)}
		if name != "ErrorsAlarm" && name != "ExpiredAlarm" { // all others watch a share of the requests
			interval := "a minute"
			if minutes > 1 {
				interval = fmt.Sprintf("in %d minutes", minutes)
			}
			threshold := referenced(fmt.Sprint(a.Threshold)) // a number, or a parameter
			said = append(said, "more than "+threshold+" ", fmt.Sprintf(" of the requests, and %d %s, ", a.leastCount(t, name), interval))
		}
		for _, text := range said {
			if !strings.Contains(a.AlarmDescription, text) {
				t.Errorf("%s says %q, want %q in it", name, a.AlarmDescription, text)
			}
		}
	}
}

// minutes returns the period of an alarm.
func (a alarm) minutes() int {
	if len(a.Metrics) > 0 {
		return a.Metrics[1].MetricStat.Period / 60
	}
	return a.Period / 60
}

// leastCount returns the number of requests below which an alarm on a share does not fire, so that a single request
// of a quiet hour is no alarm. The alarm's expression must be the percentage that its first metric is of the second.
func (a alarm) leastCount(t *testing.T, name string) (least int) {
	t.Helper()
	counted, all := a.Metrics[1].ID, a.Metrics[2].ID
	_, err := fmt.Sscanf(a.Metrics[0].Expression, "IF("+counted+" >= %d, 100 * "+counted+" / "+all+", 0)", &least)
	if err != nil {
		t.Errorf("%s watches %s, want the percentage of the two metrics, from a least count on", name, a.Metrics[0].Expression)
	}
	return least
}

// TestDegraded checks that the query of DegradedAlarm finds the lines that DegradedMetric counts.
func TestDegraded(t *testing.T) {
	operations, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	query := strings.NewReplacer("{ ", "filter ", "$.", "", "&&", "and", "||", "or", " }", " | stats ")
	want := "\n# degraded\n" + query.Replace(filterPattern(t, "DegradedMetric"))
	if !strings.Contains(string(operations), want) {
		t.Errorf("docs/operations.md does not have the query %q", want)
	}
}

// filterPattern returns which log lines a metric counts.
func filterPattern(t *testing.T, metric string) string {
	t.Helper()
	type filter struct{ FilterPattern string }
	return resources[filter](t, production(t), "AWS::Logs::MetricFilter")[metric].FilterPattern
}

// TestExpired compares ExpiredMetric with the line that the authorizer writes of an expired token.
// TestRehearsal shows such lines to CloudWatch itself.
// The line has every member that the metric reads.
func TestExpired(t *testing.T) {
	var written bytes.Buffer
	authorizer := api.Authorizer{Verifier: expired{}, Log: slog.New(slog.NewJSONHandler(&written, nil))}
	if _, err := authorizer.Invoke(t.Context(), []byte(`{"headers":{"authorization":"Bearer a"}}`)); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(written.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", &written, err)
	}
	comparisons := regexp.MustCompile(`\$\.(\w+) (?:= "(\w+)")?`)
	for _, comparison := range comparisons.FindAllStringSubmatch(filterPattern(t, "ExpiredMetric"), -1) {
		member, want := comparison[1], comparison[2]
		if got, isText := line[member].(string); !isText || want != "" && got != want {
			t.Errorf("the line %s has %s = %v, want a text such as %q", &written, member, line[member], want)
		}
	}
}

// expired is a [token.Verifier] to which every token is one of alice that has expired.
type expired struct{}

func (expired) Verify(context.Context, string) (token.Principal, error) {
	return token.Principal{Subject: "alice", TokenID: "0123456789ab"}, token.ReasonExpired
}

// TestCrashes checks that ErrorsAlarm reads the errors of each function that Lambda counts, because a crash logs
// no line of ours.
func TestCrashes(t *testing.T) {
	s := production(t)
	counted := map[string]bool{}
	for _, metric := range resources[alarm](t, s, "AWS::CloudWatch::Alarm")["ErrorsAlarm"].Metrics {
		read := metric.MetricStat.Metric
		if read.Namespace == "AWS/Lambda" && read.MetricName == "Errors" {
			counted[referenced(read.Dimensions[0].Value)] = true
		}
	}
	for name := range resources[function](t, s, "AWS::Lambda::Function") {
		if !counted[name] {
			t.Errorf("ErrorsAlarm reads the errors of %v, want also those of %s", counted, name)
		}
	}
}

// TestCanary checks that staging and production have a canary. dev, and a deployment at once, have none:
// CodeDeploy would reject a fix while an alarm fires.
func TestCanary(t *testing.T) {
	tests := []struct {
		name string
		want bool
	}{
		{name: "dev gradual", want: false},
		{name: "staging gradual", want: true},
		{name: productionGradual, want: true},
		{name: "production at-once", want: false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, function := range []string{"CreatePlantFunction", "AuthorizerFunction"} {
				if _, got := translated(t).Stacks[test.name].Resources[function+"DeploymentGroup"]; got != test.want {
					t.Errorf("%s has a canary = %t, want %t", function, got, test.want)
				}
			}
		})
	}
}

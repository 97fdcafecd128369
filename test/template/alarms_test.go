package template

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// alarm is what the rules read of an AWS::CloudWatch::Alarm.
type alarm struct {
	AlarmDescription                     string
	EvaluationPeriods, DatapointsToAlarm int
	Threshold                            any
	Metrics                              []struct { // an expression, and the metrics that it reads
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
		if page := " docs/operations.md#" + strings.ToLower(name); !strings.HasSuffix(a.AlarmDescription, page) {
			t.Errorf("%s says %q, want it to end with %q", name, a.AlarmDescription, page)
		}
		minutes := a.Metrics[1].MetricStat.Period / 60
		said := []string{fmt.Sprintf("In %d of %d minutes, ", a.DatapointsToAlarm*minutes, a.EvaluationPeriods*minutes)}
		if name != "ErrorsAlarm" {
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

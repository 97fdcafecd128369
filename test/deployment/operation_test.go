package deployment

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// canaryClaims are about what a gradual deployment does with a bad build.
var canaryClaims = []claim{
	{name: "ErrorsAlarm rolls a bad build back", only: "CodeDeploy and alarms on metric math", show: func(r *rehearsal, t *testing.T) string {
		if !r.dry {
			r.edit(t, "internal/api/createplant.go", "p, err := plant.Decode(body)", "panic(r.RouteKey)\n\tp, err := plant.Decode(body)")
		}
		before := r.aws(t, "Stacks[0].Outputs[?OutputKey=='Build'].OutputValue", "cloudformation", "describe-stacks", "--stack-name", stack)
		stop := r.keepPosting(t)
		began := time.Now()
		output, err := r.deploy(t, "5555555 panics", adminUploads, "deploy/stack", "rehearsal", "gradual")
		stop()
		r.want(t, err != nil, "the deployment succeeds: %s", output)
		status := r.aws(t, "Stacks[0].StackStatus", "cloudformation", "describe-stacks", "--stack-name", stack)
		r.want(t, status == "UPDATE_ROLLBACK_COMPLETE", "the stack is %s", status)
		after := r.aws(t, "Stacks[0].Outputs[?OutputKey=='Build'].OutputValue", "cloudformation", "describe-stacks", "--stack-name", stack)
		r.want(t, after == before, "the stack has the build %s, want %s", after, before)
		state := r.aws(t, "MetricAlarms[0].StateValue", "cloudwatch", "describe-alarms", "--alarm-names", stack+"-ErrorsAlarm")
		return "rolled back in " + time.Since(began).Round(time.Second).String() + "; the alarm is " + state
	}},
	{name: "the contract test cancels a bad build while traffic shifts", only: "CodeDeploy", show: func(r *rehearsal, t *testing.T) string {
		if !r.dry {
			r.restoreCode(t)
			r.edit(t, "internal/api/catalogue.go", "code: 2001", "code: 2009")
		}
		began := time.Now()
		output, err := r.deploy(t, "6666666 other code", adminUploads, "deploy/deploy", "rehearsal", "gradual")
		r.want(t, err != nil && strings.Contains(output, "The update was rolled back"), "%v: %s", err, output)
		if !r.dry {
			r.restoreCode(t)
		}
		return "rolled back in " + time.Since(began).Round(time.Second).String()
	}},
	{name: "after an alias was moved by hand, a gradual deployment fails, and one at once succeeds", only: "CodeDeploy", show: func(r *rehearsal, t *testing.T) string {
		function := "CreatePlantFunction"
		if !r.dry {
			function = r.resource(t, stack, function)
		}
		versions := strings.Fields(r.aws(t, "Versions[].Version", "lambda", "list-versions-by-function", "--function-name", function))
		version := "1"
		if len(versions) > 2 {
			version = versions[1] // the oldest
		}
		r.aws(t, "FunctionVersion", "lambda", "update-alias", "--function-name", function, "--name", "live",
			"--function-version", version, "--routing-config", "AdditionalVersionWeights={}")
		output, err := r.deploy(t, "7777777 gradual", adminUploads, "deploy/stack", "rehearsal", "gradual")
		r.want(t, err != nil, "the gradual deployment succeeds: %s", output)
		output, err = r.deploy(t, "7777777 at once", adminUploads, "deploy/stack", "rehearsal", "at-once")
		r.want(t, err == nil, "the deployment at once: %v %s", err, output)
		return "as documented"
	}},
}

// operationClaims are about what an operator sees.
var operationClaims = []claim{
	{name: "a token is refused once it has expired", show: func(r *rehearsal, t *testing.T) string {
		bearer := r.issue(t, "bob", "1s")
		answer := ""
		r.until(t, time.Minute, func() bool {
			_, _, answer = r.send(t, http.MethodPost, "/plants", http.Header{"Authorization": {"Bearer " + bearer}}, "[]")
			return strings.HasPrefix(answer, `{"error":2003,`)
		})
		return answer
	}},
	{name: "RefusalsMetric counts what is refused, and RefusalsAlarm fires", only: "metric filters that count", show: func(r *rehearsal, t *testing.T) string {
		stop := r.keepPosting(t)
		defer stop()
		count := 0.0
		began := time.Now()
		r.until(t, 15*time.Minute, func() bool {
			now := time.Now().UTC()
			text := r.aws(t, "sum(Datapoints[].Sum)", "cloudwatch", "get-metric-statistics", "--namespace", "PlantStore/"+stack,
				"--metric-name", "Refusals", "--statistics", "Sum", "--period", "60",
				"--start-time", now.Add(-time.Hour).Format(time.RFC3339), "--end-time", now.Format(time.RFC3339))
			count, _ = strconv.ParseFloat(text, 64)
			state := r.aws(t, "MetricAlarms[0].StateValue", "cloudwatch", "describe-alarms", "--alarm-name-prefix", stack+"-RefusalsAlarm")
			return count > 0 && state == "ALARM"
		})
		return fmt.Sprintf("%.0f refusals, ALARM after %s", count, time.Since(began).Round(time.Second))
	}},
	{name: "each query of docs/operations.md finds lines", only: "Logs Insights", show: func(r *rehearsal, t *testing.T) (came string) {
		content, err := os.ReadFile("docs/operations.md")
		if err != nil {
			t.Fatal(err)
		}
		_, block, _ := strings.Cut(string(content), "\n```\n# errors\n")
		block, _, _ = strings.Cut("# errors\n"+block, "\n```\n")
		var title string
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "# ") {
				title = line[2:]
				continue
			}
			group := "/aws/lambda/" + stack
			if strings.Contains(title, "access log") {
				group = "/aws/vendedlogs/" + stack + "-access"
			}
			rows := r.search(t, group, strings.ReplaceAll(line, `"ID"`, `"none"`))
			came += title + ": " + rows + "; "
		}
		r.want(t, came != "", "the page has no query")
		return came
	}},
	{name: "a cold start takes as long as docs/performance.md says", only: "Logs Insights", show: func(r *rehearsal, t *testing.T) string {
		return r.search(t, "/aws/lambda/"+stack, `filter msg = "cold start" | stats count(*) as starts, pct(init_ms, 50) as p50, max(init_ms) as longest`)
	}},
}

// search runs a query of Logs Insights over the last three hours, and returns its first rows.
func (r *rehearsal) search(t *testing.T, group, query string) (rows string) {
	t.Helper()
	now := time.Now()
	id := r.aws(t, "queryId", "logs", "start-query", "--log-group-names", group, "--query-string", query,
		"--start-time", fmt.Sprint(now.Add(-3*time.Hour).Unix()), "--end-time", fmt.Sprint(now.Unix()))
	if r.dry {
		id = "none"
	}
	r.until(t, 2*time.Minute, func() bool {
		return r.aws(t, "status", "logs", "get-query-results", "--query-id", id) == "Complete"
	})
	rows = r.aws(t, "results[:3][].value", "logs", "get-query-results", "--query-id", id)
	return strings.Join(strings.Fields(rows), " ")
}

// keepPosting sends a body that is no plant twice a second, until it is stopped.
func (r *rehearsal) keepPosting(t *testing.T) (stop func()) {
	t.Helper()
	if r.dry {
		return func() {}
	}
	stopped := make(chan bool)
	go func() {
		for {
			select {
			case <-stopped:
				return
			case <-time.After(500 * time.Millisecond):
				_, _, _ = r.post(t, "[]")
			}
		}
	}()
	return func() { close(stopped) }
}

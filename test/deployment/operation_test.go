package deployment

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// operationClaims are about what an operator sees.
var operationClaims = []claim{
	{name: "a body of 2.6 MB gets 1005, and one of 10.6 MB gets 413", notLocal: "it has no limits of size", check: func(r *rehearsal, t *testing.T) string {
		if r.dry {
			return ""
		}
		_, _, answer := r.post(t, strings.Repeat(" ", 2_600_000))
		r.expect(t, strings.HasPrefix(answer, `{"error":1005,`), "2.6 MB: %s, want the error 1005", answer)
		status, _, answer := r.post(t, strings.Repeat(" ", 10_600_000))
		r.expect(t, status == http.StatusRequestEntityTooLarge, "10.6 MB: %d %s, want 413", status, answer)
		status, _, answer = r.post(t, strings.Repeat(" ", 6_100_000)) // too large for Lambda's event, so README.md does not say
		return fmt.Sprintf("6.1 MB: %d `%.60s`", status, answer)
	}},
	{name: "a token is refused once it has expired", check: func(r *rehearsal, t *testing.T) string {
		header := http.Header{"Authorization": {"Bearer " + r.issue(t, "bob", "5s")}, "Content-Type": {"application/json"}}
		_, _, answer := r.send(t, http.MethodPost, "/plants", header, "[]")
		if !strings.HasPrefix(answer, `{"error":1004,`) {
			t.Errorf("before, it gets %s, want the error 1004", answer)
		}
		r.until(t, time.Minute, func() bool {
			_, _, answer = r.send(t, http.MethodPost, "/plants", header, "[]")
			return strings.HasPrefix(answer, `{"error":2003,`)
		})
		return answer
	}},
	{name: "RefusalsMetric counts what is refused, and RefusalsAlarm fires", notLocal: "its metric filters count nothing", check: func(r *rehearsal, t *testing.T) string {
		r.calm(t)
		began := time.Now()
		stop := r.keepPosting(t, "[]")
		defer stop()
		count := 0.0
		r.until(t, 15*time.Minute, func() bool {
			count = r.refusals(t, began)
			return count > 0 && r.hasFired(t, "RefusalsAlarm", began)
		})
		return fmt.Sprintf("%.0f refusals, and the alarm, after %s", count, time.Since(began).Round(time.Second))
	}},
	{name: "ExpiredMetric counts a client's expired token, and not one of the smoke test, and ExpiredAlarm fires", notLocal: "it matches no filter patterns", check: func(r *rehearsal, t *testing.T) string {
		pattern := r.aws(t, "metricFilters[?metricTransformations[0].metricName=='Expired'].filterPattern | [0]",
			"logs", "describe-metric-filters", "--log-group-name", "/aws/lambda/"+rehearsalStack)
		for subject, want := range map[string]string{"bob": "1", "smoke-test": "0", "smoke-test-other": "0"} {
			line := fmt.Sprintf(`{"msg":"authorize","reason":"expired","subject":%q,"token_id":"0123456789ab"}`, subject)
			got := r.aws(t, "length(matches)", "logs", "test-metric-filter", "--filter-pattern", pattern, "--log-event-messages", line)
			r.expect(t, got == want, "%s matches %s lines of %s, want %s", pattern, got, subject, want)
		}
		began := time.Now().Add(-time.Hour) // a claim before has used an expired token
		r.until(t, 15*time.Minute, func() bool { return r.hasFired(t, "ExpiredAlarm", began) })
		return pattern
	}},
	{name: "how long a client waits for two cold starts, and afterwards for a request", check: func(r *rehearsal, t *testing.T) string {
		times := 10
		if r.isLocal {
			times = 1
		}
		var cold, warm []time.Duration
		for i := range times {
			for _, function := range functions {
				r.must(t, "bash", "-c", renew, "bash", r.resource(t, rehearsalStack, function), strconv.Itoa(i))
			}
			cold = append(cold, r.waitForPost(t))
			warm = append(warm, r.waitForPost(t))
		}
		slices.Sort(cold)
		slices.Sort(warm)
		return fmt.Sprintf("%d times: cold p50 %d ms, at most %d ms; warm p50 %d ms, at most %d ms", times,
			cold[times/2].Milliseconds(), cold[times-1].Milliseconds(), warm[times/2].Milliseconds(), warm[times-1].Milliseconds())
	}},
	{name: "each query of docs/operations.md runs, with what it finds", notLocal: "it has no Logs Insights", check: func(r *rehearsal, t *testing.T) (finding string) {
		_, header, _ := r.post(t, "[]")
		id := header.Get("Apigw-Requestid")
		functionLog, accessLog := "/aws/lambda/"+rehearsalStack, "/aws/vendedlogs/"+rehearsalStack+"-access"
		r.until(t, 10*time.Minute, func() bool { // lines arrive late
			return r.search(t, []string{functionLog}, `filter request_id = "`+id+`"`) != "nothing"
		})
		for _, query := range logQueries(t) {
			groups := []string{functionLog}
			if strings.Contains(query.title, "in both groups") {
				groups = []string{functionLog, accessLog}
			} else if strings.Contains(query.title, "in the access log") {
				groups = []string{accessLog}
			}
			t.Run(query.title, func(t *testing.T) {
				finding += query.title + ": " + r.search(t, groups, strings.ReplaceAll(query.text, "ID", id)) + "; "
			})
			if r.dry {
				return "" // the calls are the same for each
			}
		}
		return finding
	}},
}

// waitForPost returns how long a client waits for the answer to a request.
func (r *rehearsal) waitForPost(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	status, _, answer := r.post(t, `{"id":-9,"name":"Cold"}`)
	took := time.Since(began)
	if status != http.StatusOK && status != http.StatusBadRequest {
		t.Errorf("%d %s, want an answer of the function", status, answer)
	}
	return took
}

// renew gives the alias live of a function a version that has never run.
const renew = `set -e
aws lambda update-function-configuration --function-name "$1" --description "rehearsal $2"
aws lambda wait function-updated --function-name "$1"
version=$(aws lambda publish-version --function-name "$1" --query Version --output text)
aws lambda wait published-version-active --function-name "$1" --qualifier "$version"
aws lambda update-alias --function-name "$1" --name live --function-version "$version"
sleep 2 # until Lambda has spread it`

// A logQuery is a query of Logs Insights, with the title that it has in docs/operations.md.
type logQuery struct{ title, text string }

// logQueries returns the queries of docs/operations.md: the blocks that have no language and begin with a title.
func logQueries(t *testing.T) (queries []logQuery) {
	t.Helper()
	content, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(content), "\n```\n# ")[1:] {
		block, _, _ = strings.Cut("# "+block, "\n```\n")
		title := ""
		for line := range strings.SplitSeq(block, "\n") {
			if strings.HasPrefix(line, "# ") {
				title = line[len("# "):]
			} else {
				queries = append(queries, logQuery{title: title, text: line})
			}
		}
	}
	if len(queries) == 0 {
		t.Fatal("docs/operations.md has no queries")
	}
	return queries
}

// refusals returns how many refusals RefusalsMetric has counted since a time.
func (r *rehearsal) refusals(t *testing.T, since time.Time) float64 {
	t.Helper()
	sum := r.aws(t, "sum(Datapoints[].Sum)", "cloudwatch", "get-metric-statistics",
		"--namespace", "PlantStore/"+rehearsalStack, "--metric-name", "Refusals", "--statistics", "Sum", "--period", "60",
		"--start-time", since.UTC().Format(time.RFC3339), "--end-time", time.Now().UTC().Format(time.RFC3339))
	count, _ := strconv.ParseFloat(sum, 64) // there is no sum if the claim cannot be shown
	return count
}

// search runs a query of Logs Insights over the last four hours, and returns the first rows that it finds.
func (r *rehearsal) search(t *testing.T, groups []string, query string) (rows string) {
	t.Helper()
	now := time.Now()
	start := append([]string{
		"logs", "start-query", "--query-string", query, "--start-time", fmt.Sprint(now.Add(-4 * time.Hour).Unix()),
		"--end-time", fmt.Sprint(now.Unix()), "--log-group-names",
	}, groups...)
	id := r.aws(t, "queryId", start...)
	if r.dry {
		id = "none"
	}
	r.until(t, 2*time.Minute, func() bool {
		return r.aws(t, "status", "logs", "get-query-results", "--query-id", id) == "Complete"
	})
	rows = strings.Join(strings.Fields(r.aws(t, "results[:3][?field!='@ptr'][].value", "logs", "get-query-results", "--query-id", id)), " ")
	return cmp.Or(rows, "nothing")
}

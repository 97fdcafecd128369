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
	{name: "who answers a large body, and how", notLocal: "it has no limits of size", check: func(r *rehearsal, t *testing.T) (finding string) {
		for _, contentType := range []string{"application/json", "application/octet-stream"} {
			for _, size := range []int{2_600_000, 4_400_000, 6_100_000, 10_600_000} {
				if r.dry {
					continue
				}
				header := http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {contentType}}
				status, _, body := r.send(t, http.MethodPost, "/plants", header, strings.Repeat(" ", size))
				finding += fmt.Sprintf("%s of %d bytes: %d `%.60s`; ", contentType, size, status, body)
			}
		}
		return finding
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
			count = r.metric(t, began, "PlantStore/"+rehearsalStack, "Refusals")
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
			r.want(t, got == want, "%s matches %s lines of %s, want %s", pattern, got, subject, want)
		}
		began := time.Now().Add(-time.Hour) // a claim before has used an expired token
		r.until(t, 15*time.Minute, func() bool { return r.hasFired(t, "ExpiredAlarm", began) })
		return pattern
	}},
	{name: "1,000 plants cost 1,000 write units and 1,000 read units", notLocal: "it counts no units", check: func(r *rehearsal, t *testing.T) string {
		began := time.Now()
		for id := 0; id < 1000 && !r.dry; id++ {
			if id == 0 { // CloudWatch counts by minutes
				began = began.Truncate(time.Minute).Add(time.Minute)
				time.Sleep(time.Until(began))
			}
			if status, _, answer := r.post(t, fmt.Sprintf(`{"id":%d,"name":"Units"}`, 1000+id)); status != http.StatusOK {
				t.Fatal(answer)
			}
		}
		written, read := 0.0, 0.0
		r.until(t, 15*time.Minute, func() bool {
			written = r.metric(t, began, "AWS/DynamoDB", "ConsumedWriteCapacityUnits", "--dimensions", "Name=TableName,Value="+r.name(t, "PlantsTable"))
			read = r.metric(t, began, "AWS/DynamoDB", "ConsumedReadCapacityUnits", "--dimensions", "Name=TableName,Value="+r.name(t, "TokensTable"))
			return written >= 1000 && read >= 1000
		})
		finding := fmt.Sprintf("%.0f write units, %.0f read units", written, read)
		r.want(t, written < 1010 && read < 1010, "%s, want 1,000, and a few more for what AWS's SDK repeats", finding)
		return finding
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
			for _, took := range []*[]time.Duration{&cold, &warm} {
				began := time.Now()
				status, _, answer := r.post(t, `{"id":-9,"name":"Cold"}`)
				*took = append(*took, time.Since(began))
				if status != http.StatusOK && status != http.StatusBadRequest {
					t.Errorf("%d %s, want an answer of the function", status, answer)
				}
			}
		}
		slices.Sort(cold)
		slices.Sort(warm)
		return fmt.Sprintf("%d times: cold p50 %d ms, at most %d ms; warm p50 %d ms, at most %d ms", times,
			cold[times/2].Milliseconds(), cold[times-1].Milliseconds(), warm[times/2].Milliseconds(), warm[times-1].Milliseconds())
	}},
	{name: "each query of docs/operations.md runs, with what it finds", notLocal: "it has no Logs Insights", check: func(r *rehearsal, t *testing.T) (finding string) {
		content, err := os.ReadFile("docs/operations.md")
		if err != nil {
			t.Fatal(err)
		}
		_, header, _ := r.post(t, "[]")
		id := header.Get("Apigw-Requestid")
		both := []string{"/aws/lambda/" + rehearsalStack, "/aws/vendedlogs/" + rehearsalStack + "-access"}
		r.until(t, 10*time.Minute, func() bool { // lines arrive late
			return r.search(t, both[:1], `filter request_id = "`+id+`"`) != "nothing"
		})
		queries := ""
		for _, block := range strings.Split(string(content), "\n```\n# ")[1:] { // another block has a language
			block, _, _ = strings.Cut(block, "\n```\n")
			queries += "# " + block + "\n"
		}
		if queries == "" {
			t.Fatal("docs/operations.md has no queries")
		}
		title := ""
		for line := range strings.Lines(queries) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "# ") {
				title = line[2:]
				continue
			}
			groups := both[:1]
			if strings.Contains(title, "in both groups") {
				groups = both
			} else if strings.Contains(title, "in the access log") {
				groups = both[1:]
			}
			t.Run(title, func(t *testing.T) {
				finding += title + ": " + r.search(t, groups, strings.ReplaceAll(line, "ID", id)) + "; "
			})
			if r.dry {
				return "" // the calls are the same for each
			}
		}
		return finding
	}},
	{name: "how long a cold start takes", notLocal: "it has no Logs Insights", check: func(r *rehearsal, t *testing.T) string {
		return r.search(t, []string{"/aws/lambda/" + rehearsalStack}, `filter msg = "cold start" | stats count(*) as starts, pct(init_ms, 50) as p50, max(init_ms) as longest`)
	}},
}

// renew gives the alias live of a function a version that has never run.
const renew = `set -e
aws lambda update-function-configuration --function-name "$1" --description "rehearsal $2"
aws lambda wait function-updated --function-name "$1"
version=$(aws lambda publish-version --function-name "$1" --query Version --output text)
aws lambda wait published-version-active --function-name "$1" --qualifier "$version"
aws lambda update-alias --function-name "$1" --name live --function-version "$version"
sleep 2 # until Lambda has spread it`

// metric returns the sum of a metric since a time, which is 0 as long as there is none.
func (r *rehearsal) metric(t *testing.T, since time.Time, namespace, name string, dimensions ...string) float64 {
	t.Helper()
	arguments := append([]string{
		"cloudwatch", "get-metric-statistics", "--namespace", namespace, "--metric-name", name, "--statistics", "Sum", "--period", "60",
		"--start-time", since.UTC().Format(time.RFC3339), "--end-time", time.Now().UTC().Format(time.RFC3339),
	}, dimensions...)
	sum, _ := strconv.ParseFloat(r.aws(t, "sum(Datapoints[].Sum)", arguments...), 64)
	return sum
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

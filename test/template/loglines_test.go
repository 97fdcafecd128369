package template

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// matches tells whether a metric filter's pattern matches a line, as CloudWatch
// does for the patterns that template.yaml has: numbers of a JSON object, compared
// with =, >= and <, joined by && or ||. A line that is no JSON object, and a
// field that is missing or no number, never match.
func matches(pattern, line string) (bool, error) {
	terms, braced := strings.CutPrefix(pattern, "{ ")
	terms, closed := strings.CutSuffix(terms, " }")
	if !braced || !closed {
		return false, fmt.Errorf("pattern %q has no braces", pattern)
	}
	var fields map[string]any
	_ = json.Unmarshal([]byte(line), &fields)
	for alternative := range strings.SplitSeq(terms, " || ") {
		all := true
		for term := range strings.SplitSeq(alternative, " && ") {
			part := regexp.MustCompile(`^\$\.(\w+) (=|>=|<) (\d+)$`).FindStringSubmatch(term)
			if part == nil {
				return false, fmt.Errorf("pattern %q has the term %q, which is not understood", pattern, term)
			}
			got, isNumber := fields[part[1]].(float64)
			want, _ := strconv.ParseFloat(part[3], 64)
			all = all && isNumber && map[string]bool{"=": got == want, ">=": got >= want, "<": got < want}[part[2]]
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, line string
		want          bool
	}{
		{"{ $.code = 5002 }", `{"code":5002}`, true},
		{"{ $.code = 5002 }", `{"code":5003}`, false},
		{"{ $.code = 0 }", `{}`, false},
		{"{ $.code = 0 }", `{"code":"0"}`, false},
		{"{ $.code = 0 }", `REPORT RequestId: 0`, false},
		{"{ $.code >= 1000 && $.code < 2000 }", `{"code":1000}`, true},
		{"{ $.code >= 1000 && $.code < 2000 }", `{"code":2000}`, false},
		{"{ $.code = 1 || $.code = 2 }", `{"code":2}`, true},
		{"{ $.code = 1 || $.code = 2 }", `{"code":3}`, false},
	}
	for _, test := range tests {
		if got, err := matches(test.pattern, test.line); got != test.want || err != nil {
			t.Errorf("matches(%q, %q) = %t, %v, want %t", test.pattern, test.line, got, err, test.want)
		}
	}
}

// logLine is a line of a log group, and the metrics that it is to be counted in.
type logLine struct {
	name, group, line string
	want              []string
}

// logLines returns a line of each kind, those of the functions as the handlers
// write them.
func logLines(t *testing.T) []logLine {
	t.Helper()
	lines := []logLine{
		{"createplant that cannot start", "CreatePlantLog", `{"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"cannot start","error":"environment variable PLANTS_TABLE is not set"}`, nil},
		{"Lambda's report", "CreatePlantLog", "REPORT RequestId: 5001\tDuration: 5001 ms\tBilled Duration: 0 ms", nil},
		{"Lambda's report as JSON", "CreatePlantLog", `{"time":"2026-01-02T03:04:05Z","type":"platform.report","record":{"metrics":{"durationMs":0}}}`, nil},
		{"Lambda's report of the authorizer", "AuthorizerLog", "REPORT RequestId: 5001", nil},
	}
	const body = `{"id":1,"name":"Monstera"}`
	for _, request := range []struct {
		name, verdict, body string
		store               error
		want                string
	}{
		{"a plant that is created", "allow", body, nil, "Created"},
		{"a body that is no JSON", "allow", `{`, nil, "Invalid"},
		{"a body that is no plant", "allow", `{}`, nil, "Invalid"},
		{"no token", `deny","reason":"missing`, body, nil, "Unauthenticated"},
		{"an unknown token", `deny","reason":"invalid`, body, nil, "Unauthenticated"},
		{"an id that exists", "allow", body, plant.ErrExists, "Conflicting"},
		{"a key that was used", "allow", body, plant.ErrKeyReused, "Conflicting"},
		{"no verdict", "", body, nil, "InternalErrors"},
		{"an unknown error", "allow", body, errors.New("broken"), "InternalErrors"},
		{"a store that is not there", "allow", body, plant.ErrUnavailable, "Unavailable"},
		{"tokens that cannot be checked", "unavailable", body, nil, "Unavailable"},
		{"an outcome that is unknown", "allow", body, plant.ErrOutcomeUnknown, "OutcomeUnknown"},
	} {
		line := createPlantLine(t, request.verdict, request.body, request.store)
		lines = append(lines, logLine{request.name, "CreatePlantLog", line, []string{request.want, "Duration"}})
	}
	for _, request := range []struct {
		name  string
		store error
		want  []string
	}{
		{"a token that opens", nil, nil},
		{"a token that is refused", token.ErrNotFound, nil},
		{"tokens that the authorizer cannot read", token.ErrUnavailable, nil},
		{"an authorizer that fails", errors.New("broken"), []string{"InternalErrors"}},
	} {
		lines = append(lines, logLine{request.name, "AuthorizerLog", authorizerLine(t, request.store), request.want})
	}
	return lines
}

// Each line is counted by the metric filters that are meant to, and by no other.
func checkLogLines(p *problems, t template, lines []logLine) {
	for _, l := range lines {
		var got []string
		for _, filter := range t.resources("AWS::Logs::MetricFilter") {
			at := "Resources." + filter + ".Properties."
			matched, err := matches(t.text(at+"FilterPattern"), l.line)
			if err != nil {
				p.add("%s: %v", filter, err)
			}
			if matched && t.text(at+"LogGroupName") == "!Ref "+l.group {
				got = append(got, countedIn(p, t, filter, l.line))
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(l.want)); !slices.Equal(got, want) {
			p.add("%s: the metrics of %s = %v, want %v", l.name, l.line, got, want)
		}
	}
}

// countedIn returns the metric to which a filter that matches line adds a value.
func countedIn(p *problems, t template, filter, line string) string {
	var transformation template
	for _, item := range t.list("Resources." + filter + ".Properties.MetricTransformations") {
		transformation, _ = item.(map[string]any)
	}
	value := transformation.text("MetricValue")
	if field, isField := strings.CutPrefix(value, "$."); isField {
		var fields map[string]any
		_ = json.Unmarshal([]byte(line), &fields)
		if _, isNumber := fields[field].(float64); !isNumber {
			p.add("%s takes its value from %s, which is no number in %s", filter, value, line)
		}
	} else if value != "1" {
		p.add("%s counts %s for a line, want 1", filter, value)
	}
	return transformation.text("MetricName")
}

// stubStore is a store whose every operation ends with err.
type stubStore struct {
	found token.Token
	err   error
}

func (s stubStore) Create(context.Context, plant.Write) error { return s.err }

func (s stubStore) Find(context.Context, string) (token.Token, error) { return s.found, s.err }

// createPlantLine returns the line that createplant writes for a request.
func createPlantLine(t *testing.T, verdict, body string, store error) string {
	t.Helper()
	var log bytes.Buffer
	handler := &api.CreatePlant{
		Plants: stubStore{err: store}, Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now, NewKey: rand.Text,
	}
	event := fmt.Sprintf(`{"headers":{"authorization":"Bearer t"},"body":%q,"requestContext":{"requestId":"r","authorizer":{"lambda":`+
		`{"presented":"%x","subject":"gardener","token_id":"t1","verdict":"%s"}}}}`, body, sha256.Sum256([]byte("Bearer t")), verdict)
	if _, err := handler.Invoke(t.Context(), []byte(event)); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// authorizerLine returns the line that the authorizer writes for a request.
func authorizerLine(t *testing.T, store error) string {
	t.Helper()
	secret, issued, err := token.Issue(rand.Reader, "gardener", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	handler := &api.Authorizer{Tokens: token.Verifier{Store: stubStore{issued, store}, Now: time.Now}, Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now}
	event := `{"headers":{"authorization":"Bearer ` + secret + `"},"requestContext":{"requestId":"r"}}`
	if _, err := handler.Invoke(t.Context(), []byte(event)); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

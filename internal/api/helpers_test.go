package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

const (
	// canary is in the headers and bodies that the tests send. It must not be in
	// a log or in an Error.
	canary      = "canary"
	credentials = "Bearer " + canary
	oak         = `{"id":1,"name":"canary"}`

	// Members of a verdict.
	allow    = `"verdict":"allow"`
	gardener = `"subject":"gardener","token_id":"t1"`
)

// presented is the member of a verdict on credentials, and allowed an allow of them.
var (
	presented = `"presented":"` + token.Digest(credentials) + `"`
	allowed   = lambda(allow, presented, gardener)
)

// A request begins now, which is not in UTC, and ends later.
var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	later = now.Add(1500 * time.Microsecond)
)

// newClock returns a clock that shows now once, and later after that.
func newClock() func() time.Time {
	next := now
	return func() (shown time.Time) {
		shown, next = next, later
		return shown
	}
}

// lambda returns a requestContext.authorizer whose verdict has the members.
func lambda(members ...string) string { return `{"lambda":{` + strings.Join(members, ",") + `}}` }

// event returns the event of a request, for either function. The authorizer is
// requestContext.authorizer as JSON, and absent if empty.
func event(added map[string]string, body, authorizer string) []byte {
	headers := map[string]string{"authorization": credentials, "x-canary": canary}
	maps.Copy(headers, added)
	requestContext := map[string]any{"requestId": "r1"}
	if authorizer != "" {
		requestContext["authorizer"] = jsontext.Value(authorizer)
	}
	return []byte(show(map[string]any{"headers": headers, "requestContext": requestContext, "body": body}))
}

// recorder is a plant.Store that records the writes, and can fail.
type recorder struct {
	fail     func() error
	writes   []plant.Write
	deadline time.Time // of the last call
}

func (s *recorder) Create(ctx context.Context, w plant.Write) error {
	s.writes = append(s.writes, w)
	s.deadline, _ = ctx.Deadline()
	if s.fail == nil {
		return nil
	}
	return s.fail()
}

func fails(err error) func() error { return func() error { return err } }

// answer is what a client gets, what is in the log, and what the store was asked.
type answer struct {
	code    int32             // 0 for success
	headers map[string]string // besides content-type
	body    string
	line    map[string]any
	writes  []plant.Write
}

func (a answer) String() string {
	return fmt.Sprintf("%s with headers %v, logged as %v", a.body, a.headers, a.line)
}

// create returns the answer of CreatePlant to event. It checks what is promised
// of every answer: 200 with the Plant, or 400 with an Error that repeats nothing;
// and that a request that is refused before the store does not reach it.
func create(t *testing.T, fail func() error, event []byte) answer {
	t.Helper()
	store := &recorder{fail: fail}
	out, line := logged(t, func(log *slog.Logger) ([]byte, error) {
		newKey := func() string { return "fresh-" + canary }
		return (&CreatePlant{Plants: store, Log: log, Now: newClock(), NewKey: newKey}).Invoke(t.Context(), event)
	})
	var r response
	var refused Error
	strictly := json.RejectUnknownMembers(true)
	isAnswer := json.Unmarshal(out, &r, strictly) == nil && r.Headers["content-type"] == "application/json"
	isPlant := r.StatusCode == http.StatusOK && r.Body == `{"name":"canary"}`
	isError := r.StatusCode == http.StatusBadRequest && json.Unmarshal([]byte(r.Body), &refused, strictly) == nil &&
		refused.Code > 0 && refused.Message != "" && !strings.Contains(r.Body, canary)
	logs, reached := line["code"] == float64(refused.Code), len(store.writes) > 0
	if !isAnswer || !isPlant && !isError || !logs || reached != (isPlant || fail != nil) {
		t.Errorf("Invoke(%.200q) = %s after %d writes, logged as %v, want 200 with the Plant, or 400 with an Error that "+
			"repeats nothing, and the code in the log", event, out, len(store.writes), line)
	}
	delete(r.Headers, "content-type")
	return answer{refused.Code, r.Headers, r.Body, line, store.writes}
}

// verifier verifies tokens: it knows the token canary alone, and can fail.
type verifier func() error

func (fail verifier) verify(_ context.Context, bearer string) (token.Principal, error) {
	if fail != nil {
		return token.Principal{}, fail()
	}
	if bearer != canary {
		return token.Principal{}, token.ErrInvalid
	}
	return token.Principal{Subject: "gardener", TokenID: "t1"}, nil
}

// authorize returns the answer of Authorizer to event, and what is in the log.
func authorize(t *testing.T, fail verifier, event []byte) (string, map[string]any) {
	t.Helper()
	out, line := logged(t, func(log *slog.Logger) ([]byte, error) {
		return (&Authorizer{Verify: fail.verify, Log: log, Now: newClock()}).Invoke(t.Context(), event)
	})
	return string(out), line
}

// logged returns the answer of a function and the line that it logs. It checks
// that there is one, and that it does not have the canary.
func logged(t *testing.T, invoke func(*slog.Logger) ([]byte, error)) (out []byte, line map[string]any) {
	t.Helper()
	var log bytes.Buffer
	out, err := invoke(slog.New(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Errorf("Invoke = %v, want an answer", err)
	}
	text := log.String()
	if strings.Count(text, "\n") != 1 || strings.Contains(strings.ToLower(text), canary) {
		t.Errorf("log = %s, want one line without a token, a header or a body", text)
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("log = %s: %v", text, err)
	}
	return out, line
}

// checkLine checks that line has the promised attributes and no others. A
// request that is not allowed has no subject.
func checkLine(t *testing.T, line map[string]any, message string, code int32, allowed bool) {
	t.Helper()
	want := map[string]any{
		"time": line["time"], "level": "INFO", "msg": message, "request_id": "r1", "code": float64(code),
		"subject": "", "token_id": "", "duration_ms": 1.5,
	}
	if allowed {
		want["subject"], want["token_id"] = "gardener", "t1"
	}
	if code >= 5000 {
		want["level"], want["error"] = "ERROR", cmp.Or(line["error"], "the cause")
	}
	if !maps.Equal(line, want) {
		t.Errorf("log = %v, want %v", line, want)
	}
}

// show returns value as JSON, in which failures are readable.
func show(value any) string {
	text, _ := json.Marshal(value, json.Deterministic(true)) // the tests' values have a JSON form
	return string(text)
}

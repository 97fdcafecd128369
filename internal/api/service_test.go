package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A request without a well-formed token is refused, whatever the verdict is. With one, a verdict that is not an
// explicit allow of the very Authorization value lets no request through. All other checks come later.
func TestAuthentication(t *testing.T) {
	verdictOn := func(authorization, verdict string) object {
		return object{"verdict": verdict, "presented": token.Digest(authorization), "subject": "alice", "token_id": "t1"}
	}
	allowWithout := func(member string) object {
		v := verdictOn(credentials, "allow")
		delete(v, member)
		return v
	}
	const malformed = "Bearer canary\uFFFD"
	tests := []struct {
		name          string
		authorization string
		verdict       any
		code          int32
	}{
		{"no token, and no authorizer ran", "", nil, 2001},
		{"no token, and an allow", "", verdictOn("", "allow"), 2001},
		{"a malformed token, and no authorizer ran", malformed, nil, 2002},
		{"a malformed token, and an allow", malformed, verdictOn(malformed, "allow"), 2002},

		{"an invalid token", credentials, verdictOn(credentials, "deny"), 2003},
		{"a token that cannot be checked", credentials, verdictOn(credentials, "unavailable"), 5003},

		{"no authorizer ran", credentials, nil, 5001},
		{"an unknown verdict", credentials, verdictOn(credentials, "maybe"), 5001},
		{"an allow of no value", credentials, allowWithout("presented"), 5001},
		{"an allow of another value", credentials, verdictOn("Bearer other", "allow"), 5001},
		{"a deny of another value", credentials, verdictOn("Bearer other", "deny"), 5001},
		{"unavailable for another value", credentials, verdictOn("Bearer other", "unavailable"), 5001},
		{"an allow without a subject", credentials, allowWithout("subject"), 5001},
		{"an allow without a token id", credentials, allowWithout("token_id"), 5001},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			headers := map[string]string{"authorization": test.authorization, "content-type": "text/plain", "idempotency-key": "a b"}
			got := checkedAnswer(t, store{}, event(headers, "", test.verdict))
			if got.refusal.Code != test.code || got.key != "" {
				t.Errorf("Invoke = %v, want the error %d and no key: nothing was written", got, test.code)
			}
			if got.line["subject"] != "" || got.line["token_id"] != "" {
				t.Errorf("log = %v, want no subject and no token id", got.line)
			}
		})
	}
}

// Each outcome of a write has its answer and its log line. The text of an error is in the log alone. A store
// that hangs has 2.7 s.
func TestOutcomes(t *testing.T) {
	key := "!" + strings.Repeat("~", 254) // the longest, of the first and the last visible character
	tests := []struct {
		name    string
		wait    time.Duration // of the store; 0 is 1.5 ms
		outcome error         // of the write
		code    int32
		key     string // in the answer
	}{
		{name: "the plant is created"},
		{name: "the id exists", outcome: plant.ErrExists, code: 3001},
		{name: "the key was used", outcome: plant.ErrKeyReused, code: 3002},
		{name: "an unknown error", outcome: errors.New("unknown"), code: 5001},
		{name: "the store is unavailable", outcome: plant.ErrUnavailable, code: 5002, key: key},
		{name: "the outcome is unknown", outcome: plant.ErrOutcomeUnknown, code: 5004, key: key},
		{name: "the store hangs", wait: time.Hour, outcome: plant.ErrOutcomeUnknown, code: 5004, key: key},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				wait := cmp.Or(test.wait, 1500*time.Microsecond)
				plants := store{create: func(ctx context.Context, got plant.Write) error {
					want := plant.Write{
						NewPlant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: canary}},
						WriteKey: plant.NewWriteKey("alice", key),
						Subject:  "alice",
						Time:     start.UTC(),
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("the store is asked to create %+v, want %+v", got, want)
					}
					select {
					case <-time.After(wait):
					case <-ctx.Done():
					}
					if test.outcome == nil {
						return nil
					}
					return fmt.Errorf("%w: the cause", test.outcome)
				}}
				got := checkedAnswer(t, plants, event(map[string]string{"idempotency-key": key}, validBody, allowed()))
				if got.refusal.Code != test.code || got.key != test.key {
					t.Errorf("Invoke = %v, want code %d and key %q", got, test.code, test.key)
				}
				wantLine := object{
					"level": "INFO", "msg": "create plant", "request_id": "r1", "code": float64(test.code),
					"subject": "alice", "token_id": "t1", "duration_ms": min(1000*wait.Seconds(), 2700),
				}
				if test.code >= 5000 {
					wantLine["level"] = "ERROR"
					wantLine["error"] = test.outcome.Error() + ": the cause"
				}
				if !maps.Equal(got.line, wantLine) {
					t.Errorf("log = %v, want %v", got.line, wantLine)
				}
				if strings.Contains(got.refusal.Message, "the cause") {
					t.Errorf("Invoke = %v, want no cause in it", got)
				}
			})
		})
	}
}

// A request without a key gets a fresh one, which 5002 returns.
func TestFreshKey(t *testing.T) {
	var write plant.Write
	plants := store{create: func(_ context.Context, w plant.Write) error {
		write = w
		return plant.ErrUnavailable
	}}
	got := checkedAnswer(t, plants, event(nil, validBody, allowed()))
	if got.key != "fresh" || write.WriteKey != plant.NewWriteKey("alice", "fresh") {
		t.Errorf("Invoke = %v after %+v, want the fresh key in both", got, write)
	}
}

// A panic is an internal error, and the log has its stack.
func TestPanic(t *testing.T) {
	plants := store{create: func(context.Context, plant.Write) error { panic("the cause") }}
	got := checkedAnswer(t, plants, event(nil, validBody, allowed()))
	if got.refusal.Code != 5001 {
		t.Errorf("Invoke = %v, want 5001", got)
	}
	text, _ := got.line["error"].(string)
	if !strings.Contains(text, "the cause") || !strings.Contains(text, "service_test.go") {
		t.Errorf("log = %v, want the cause and its stack", got.line)
	}
}

// In Lambda, a line has the id that Lambda's own lines have. TestOutcomes shows that elsewhere it has none.
func TestLambdaRequestID(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	handlers := []struct {
		name string
		lambda.Handler
	}{
		{name: "an operation", Handler: &Service{Log: logger}},
		{name: "the authorizer", Handler: &Authorizer{Log: logger}},
	}
	for _, handler := range handlers {
		t.Run(handler.name, func(t *testing.T) {
			log.Reset()
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "i1"})
			if _, err := handler.Invoke(ctx, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), `"lambda_request_id":"i1"`) {
				t.Errorf("log = %s, want the id of the invocation", &log)
			}
		})
	}
}

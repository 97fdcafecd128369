// Package faults checks what clients and operators see while DynamoDB fails. Time is synctest's, so waiting takes none.
package faults

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/plants"
	"plantstore/internal/tokens"
)

// service is the whole service, with a table of tokens and one of plants.
type service struct {
	tokens, plants dynamotest.Fake
	bearer         string
	log            bytes.Buffer
}

func (s *service) table(name string) *dynamotest.Fake {
	return map[string]*dynamotest.Fake{"plants": &s.plants, "tokens": &s.tokens}[name]
}

// inBubble calls do with a new service, whose clock is the bubble's.
func inBubble(t *testing.T, do func(t *testing.T, s *service)) {
	synctest.Test(t, func(t *testing.T) {
		var s service
		previous := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&s.log, nil)))
		defer slog.SetDefault(previous)
		bearer, token, err := tokens.Issue("alice", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		s.bearer = bearer
		if err := (tokens.Table{Client: s.tokens.Client(), Name: "tokens"}).Add(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		do(t, &s)
	})
}

// create sends a plant as a client does, and returns the code of the answer, or 0 for a Plant.
func (s *service) create(t *testing.T, name string) (code int, took time.Duration) {
	t.Helper()
	gateway := api.Gateway{
		Authorizer:  api.Authorizer{Tokens: tokens.Table{Client: s.tokens.Client(), Name: "tokens"}},
		CreatePlant: plants.Create(plants.Table{Client: s.plants.Client(), Name: "plants"}),
	}
	body := fmt.Sprintf(`{"id":1,"name":%q}`, name)
	request := httptest.NewRequestWithContext(t.Context(), "POST", "/plants", strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+s.bearer)
	answer := httptest.NewRecorder()
	start := time.Now()
	gateway.ServeHTTP(answer, request)
	took = time.Since(start)
	if answer.Code == 200 {
		if want := fmt.Sprintf(`{"name":%q}`, name); answer.Body.String() != want {
			t.Errorf("the answer is %s, want %s", answer.Body, want)
		}
		return 0, took
	}
	if _, err := fmt.Sscanf(answer.Body.String(), `{"error":%d,`, &code); err != nil || answer.Code != 400 {
		t.Errorf("the answer is %d %s, which is no Error", answer.Code, answer.Body)
	}
	if retry := answer.Header().Get("Retry-After"); (retry == "1") != (code == 503) {
		t.Errorf("the answer %d has Retry-After %q", code, retry)
	}
	return code, took
}

// A fault that happens once or twice goes unnoticed. Another that lasts is a 503 in good time, with its cause in the log.
// In each case, the same request succeeds later, and another plant with its id does not.
func TestFaults(t *testing.T) {
	const always = 1000
	for name, fault := range dynamotest.Faults() {
		for _, table := range []string{"plants", "tokens"} {
			for times, want := range map[int]int{1: 0, 2: 0, always: 503} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, table, times), func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *service) {
						fake := s.table(table)
						fake.Fault, fake.Times = fault, times
						code, took := s.create(t, "Fern")
						log := s.log.String()
						if code != want || took > 4*time.Second || strings.Contains(log, "level=ERROR") != (want == 503) {
							t.Errorf("the answer is %d after %v, want %d after at most 4 s; the log is\n%s", code, took, want, log)
						}
						cause := map[bool]string{true: "Exception", false: "DynamoDB failed"}[strings.HasPrefix(name, "throttling")]
						if !strings.Contains(log, "level=WARN") || !strings.Contains(log, cause) {
							t.Errorf("the log lacks %s:\n%s", cause, log)
						}
						attempts := times - fake.Times
						if times == always && (attempts < 3 || attempts < 8 && strings.HasPrefix(name, "error 500")) {
							t.Errorf("there are %d attempts, which do not fill the time", attempts)
						}
						fake.Times = 0
						if code, _ := s.create(t, "Fern"); code != 0 {
							t.Errorf("the same request gets %d later", code)
						}
						if code, _ := s.create(t, "Moss"); code != 409 || !strings.Contains(s.plants.Items["plants/1"], "Fern") {
							t.Errorf("another plant with the id gets %d, want 409", code)
						}
					})
				})
			}
		}
	}
}

// A DynamoDB that takes a second for each call is slow, and nothing else.
func TestSlow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service) {
		s.tokens.Fault, s.tokens.Times = dynamotest.Slow, 1000
		s.plants.Fault, s.plants.Times = dynamotest.Slow, 1000
		if code, took := s.create(t, "Fern"); code != 0 || took != 2*time.Second {
			t.Errorf("the answer is %d after %v, want 0 after 2 s", code, took)
		}
		if log := s.log.String(); strings.Contains(log, "WARN") || strings.Contains(log, "ERROR") {
			t.Errorf("the log is %s", log)
		}
	})
}

// A refusal, such as that of a role which lacks the permission, is a 503 without delay.
func TestRefusal(t *testing.T) {
	for _, table := range []string{"plants", "tokens"} {
		t.Run(table, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *service) {
				fake := s.table(table)
				fake.Fault, fake.Times = dynamotest.Denied, 1000
				if code, took := s.create(t, "Fern"); code != 503 || took != 0 {
					t.Errorf("the answer is %d after %v, want 503 at once", code, took)
				}
				if log := s.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "AccessDenied") {
					t.Errorf("the log is %s", log)
				}
			})
		})
	}
}

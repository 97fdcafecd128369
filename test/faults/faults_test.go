// Package faults checks what clients and operators see while DynamoDB fails. Time is synctest's, so waiting takes none.
package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/plants"
	"plantstore/internal/tokens"
)

const always = 1000

// service is the whole service, with a table of tokens and one of plants.
type service struct {
	tokens, plants dynamotest.Fake
	gateway        api.Gateway
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
		table := tokens.Table{Client: s.tokens.Client(), Name: "tokens"}
		bearer, token, err := tokens.Issue("alice", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Add(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		s.bearer = bearer
		s.gateway = api.Gateway{
			Authorizer: api.Authorizer{Tokens: table},
			Routes: map[string]lambda.Handler{
				"POST /plants": plants.Create(plants.Table{Client: s.plants.Client(), Name: "plants"}),
			},
		}
		do(t, &s)
	})
}

// create sends a plant as a client does, and returns the code of the answer, or 0 for a Plant.
func (s *service) create(t *testing.T, name string) (code int, took time.Duration) {
	t.Helper()
	body := fmt.Sprintf(`{"id":1,"name":%q}`, name)
	request := httptest.NewRequestWithContext(t.Context(), "POST", "/plants", strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+s.bearer)
	answer := httptest.NewRecorder()
	start := time.Now()
	s.gateway.ServeHTTP(answer, request)
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

// wait returns an error if the request ends before the time is over.
func wait(r *http.Request, duration time.Duration) error {
	select {
	case <-r.Context().Done():
		return r.Context().Err()
	case <-time.After(duration):
		return nil
	}
}

// reply answers every request with this status and body.
func reply(status int, body string) dynamotest.Fault {
	return func(*http.Request, func() *http.Response) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return w.Result(), nil
	}
}

// half is a body whose end never comes.
type half struct{ *http.Request }

func (h half) Read([]byte) (int, error) { return 0, wait(h.Request, time.Hour) }

// A fault that happens once or twice goes unnoticed. One that lasts is a 503 in good time, and the line with the client's
// Apigw-Requestid names its cause. In each case, the same request succeeds later, and another plant with its id does not.
func TestFaults(t *testing.T) {
	for name, fault := range map[string]struct {
		fail     dynamotest.Fault
		attempts int // at least, if it lasts
		cause    string
	}{
		"reset": {
			fail: func(*http.Request, func() *http.Response) (*http.Response, error) {
				return nil, syscall.ECONNRESET
			},
			attempts: 8, cause: "connection reset",
		},
		"hang": {
			fail: func(r *http.Request, _ func() *http.Response) (*http.Response, error) {
				return nil, wait(r, time.Hour)
			},
			attempts: 3, cause: "request send failed",
		},
		"half an answer": {
			fail: func(r *http.Request, _ func() *http.Response) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(half{r})}, nil
			},
			attempts: 3, cause: "deserialization failed",
		},
		"unknown host": {
			fail: func(*http.Request, func() *http.Response) (*http.Response, error) {
				return nil, &net.DNSError{IsNotFound: true}
			},
			attempts: 8, cause: "lookup",
		},
		"redirect": {
			fail: func(r *http.Request, _ func() *http.Response) (*http.Response, error) {
				w := httptest.NewRecorder()
				if r.Method == http.MethodPost {
					http.Redirect(w, r, "/elsewhere", http.StatusFound)
				}
				return w.Result(), nil
			},
			attempts: 8, cause: "302",
		},
		"error 500":     {fail: dynamotest.Refuse(500, "InternalServerError"), attempts: 8, cause: "InternalServerError"},
		"throttling":    {fail: dynamotest.Refuse(400, "ThrottlingException"), attempts: 3, cause: "ThrottlingException"},
		"proxy's page":  {fail: reply(403, "<h1>Forbidden</h1>"), attempts: 8, cause: "403"},
		"proxy's error": {fail: reply(403, `{"message":"Forbidden"}`), attempts: 8, cause: "403"},
	} {
		applied := func(r *http.Request, apply func() *http.Response) (*http.Response, error) {
			apply()
			return fault.fail(r, apply)
		}
		for variant, fail := range map[string]dynamotest.Fault{"": fault.fail, ", applied": applied} {
			for _, table := range []string{"plants", "tokens"} {
				for times, want := range map[int]int{1: 0, 2: 0, always: 503} {
					t.Run(fmt.Sprintf("%s%s/%s/%d", name, variant, table, times), func(t *testing.T) {
						inBubble(t, func(t *testing.T, s *service) {
							fake := s.table(table)
							fake.Fault, fake.Times = fail, times
							code, took := s.create(t, "Fern")
							if code != want || took > 4*time.Second {
								t.Errorf("the answer is %d after %v, want %d after at most 4 s", code, took, want)
							}
							s.checkLog(t, want, fault.cause)
							if attempts := always - fake.Times; times == always && attempts < fault.attempts {
								t.Errorf("there are %d attempts, want %d", attempts, fault.attempts)
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
}

// checkLog checks that a failure has a line at level ERROR, with its cause and the request's id, and that nothing else has one.
func (s *service) checkLog(t *testing.T, code int, cause string) {
	t.Helper()
	if code < 500 {
		if strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("for %d, the log is\n%s", code, &s.log)
		}
		return
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "level=ERROR") && strings.Contains(line, fmt.Sprint("error=", code)) &&
			strings.Contains(line, cause) && strings.Contains(line, "apigw_request_id=") {
			return
		}
	}
	t.Errorf("no line has the error %d with the cause %s:\n%s", code, cause, &s.log)
}

// A DynamoDB that takes a second for each call is slow, and nothing else.
func TestSlow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service) {
		slow := func(r *http.Request, apply func() *http.Response) (*http.Response, error) {
			if err := wait(r, time.Second); err != nil {
				return nil, err
			}
			return apply(), nil
		}
		s.tokens.Fault, s.tokens.Times = slow, always
		s.plants.Fault, s.plants.Times = slow, always
		if code, took := s.create(t, "Fern"); code != 0 || took != 2*time.Second {
			t.Errorf("the answer is %d after %v, want 0 after 2 s", code, took)
		}
		s.checkLog(t, 0, "")
	})
}

// An outage that many requests met has no effect on those that come after it.
func TestOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service) {
		s.plants.Fault, s.plants.Times = dynamotest.Refuse(500, "InternalServerError"), always
		for range 20 {
			if code, _ := s.create(t, "Fern"); code != 503 {
				t.Errorf("the answer is %d during the outage, want 503", code)
			}
		}
		for range 20 {
			s.plants.Times = 1
			if code, _ := s.create(t, "Fern"); code != 0 {
				t.Errorf("the answer is %d after a single failure, want 0", code)
			}
		}
	})
}

// If DynamoDB refuses a call for good, the answer is 500 at once, because repeating the request helps nothing.
func TestRefusal(t *testing.T) {
	for _, name := range []string{"AccessDeniedException", "ResourceNotFoundException", "ValidationException"} {
		for _, table := range []string{"plants", "tokens"} {
			t.Run(name+"/"+table, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *service) {
					fake := s.table(table)
					fake.Fault, fake.Times = dynamotest.Refuse(400, name), always
					if code, took := s.create(t, "Fern"); code != 500 || took != 0 {
						t.Errorf("the answer is %d after %v, want 500 at once", code, took)
					}
					s.checkLog(t, 500, name)
				})
			})
		}
	}
}

// A call that cannot even be sent, because the function lacks its configuration, fails for good.
func TestConfiguration(t *testing.T) {
	table := plants.Table{Client: dynamo.New(aws.Config{}, &dynamotest.Fake{}), Name: "plants"}
	if _, err := table.LoadOrStore(t.Context(), plants.NewPlant{}, "alice"); err == nil || errors.Is(err, dynamo.ErrUnavailable) {
		t.Errorf("without a region, LoadOrStore gives %v", err)
	}
}

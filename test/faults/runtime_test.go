package reliability

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// none is no fault.
var none fault

// stage is what a runtime fault has at hand: the built function, and a line to
// DynamoDB that can be made to fail.
type stage struct {
	binary, table, proxy string
	direct               *dynamodb.Client

	mu    sync.Mutex
	fault fault
	asked chan struct{} // gets a value for each request that meets the fault
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{binary: processtest.Build(t, "createplant"), asked: make(chan struct{}, 1)}
	s.direct, s.table, _ = dynamotest.Tables(t)
	s.proxy = newProxy(t, func([]byte) fault {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.fault.name != "" {
			select {
			case s.asked <- struct{}{}:
			default: // it is known already
			}
		}
		return s.fault
	})
	return s
}

func (s *stage) set(fault fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *stage) environment() []string {
	return []string{
		"PLANTS_TABLE=" + s.table, "AWS_ENDPOINT_URL_DYNAMODB=" + s.proxy,
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}
}

// expectCreated invokes f to create the plant with this id, and looks whether it
// is in the table once, as this request wrote it.
func (s *stage) expectCreated(t *testing.T, f *function, id int64) {
	t.Helper()
	key := fmt.Sprintf("key-%d", id)
	got, err := f.invoke(event(newPlant(id, "oak"), key), 10*time.Second)
	if err != nil || got.code != 0 {
		t.Errorf("id %d: answer = %v, %v, want the plant", id, got, err)
	}
	there, err := find(t.Context(), s.direct, s.table, id)
	if want := (stored{"oak", plant.NewWriteKey("gardener", key).String()}); err != nil || there != want {
		t.Errorf("id %d: the table holds %+v, %v, want %+v", id, there, err, want)
	}
}

// Whatever happens to a function's process, the next invocation answers
// correctly, and no write is doubled.
func TestRuntimeFaults(t *testing.T) {
	s := newStage(t)
	stallBefore, stallAfter := faultNamed(t, "stall before"), faultNamed(t, "stall after")
	faults := []struct {
		name string
		run  func(t *testing.T, id int64)
	}{
		{"a variable is missing at the start", func(t *testing.T, id int64) {
			s.refusesToStart(t, "PLANTS_TABLE", "")
			s.expectCreated(t, start(t, s.binary, s.environment()...), id)
		}},
		{"a variable is malformed at the start", func(t *testing.T, id int64) {
			s.refusesToStart(t, "AWS_ENDPOINT_URL_DYNAMODB", "nowhere")
			s.expectCreated(t, start(t, s.binary, s.environment()...), id)
		}},
		{"DynamoDB is away at the start", func(t *testing.T, id int64) {
			away := append(s.environment(), "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1")
			got, err := start(t, s.binary, away...).invoke(event(newPlant(id, "oak"), ""), time.Second)
			if err != nil || got.code != 5002 {
				t.Errorf("id %d: answer = %v, %v, want 5002", id, got, err)
			}
			s.expectCreated(t, start(t, s.binary, s.environment()...), id)
		}},
		{"the deadline comes before the write", func(t *testing.T, id int64) { s.deadline(t, id, stallBefore) }},
		{"the deadline comes after the write", func(t *testing.T, id int64) { s.deadline(t, id, stallAfter) }},
		{"killed before the write", func(t *testing.T, id int64) { s.killed(t, id, stallBefore) }},
		{"killed after the write", func(t *testing.T, id int64) { s.killed(t, id, stallAfter) }},
		{"frozen for a while", func(t *testing.T, id int64) {
			f := start(t, s.binary, s.environment()...)
			s.expectCreated(t, f, id)
			s.set(faultNamed(t, "close before")) // the connection is gone when it thaws
			signal(t, f, syscall.SIGSTOP)
			signal(t, f, syscall.SIGCONT)
			got, err := f.invoke(event(newPlant(id, "elm"), ""), time.Second)
			if err != nil || got.code != 5004 && got.code != 5002 {
				t.Errorf("id %d: answer = %v, %v, want 5002 or 5004", id, got, err)
			}
			s.set(none)
			s.expectCreated(t, f, id)
		}},
		{"an event that is none", func(t *testing.T, id int64) {
			f := start(t, s.binary, s.environment()...)
			for _, nonsense := range []string{"", "null", "{", `[]`, "\xff"} {
				if got, err := f.invoke([]byte(nonsense), time.Second); err != nil || got.code != 5001 {
					t.Errorf("event %q: answer = %v, %v, want 5001", nonsense, got, err)
				}
			}
			s.expectCreated(t, f, id)
		}},
		{"told to stop between two invocations", func(t *testing.T, id int64) {
			f := start(t, s.binary, s.environment()...)
			s.expectCreated(t, f, id)
			signal(t, f, syscall.SIGTERM)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := f.wait(ctx); err != nil {
				t.Errorf("id %d: the function goes on after SIGTERM: %v", id, err)
			}
			s.expectCreated(t, start(t, s.binary, s.environment()...), id)
		}},
	}
	for number, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			for i := range processtest.Scale(2, 100) {
				fault.run(t, int64(number*1000+i))
			}
		})
	}
}

// refusesToStart starts the function with a variable that is not as it must be.
func (s *stage) refusesToStart(t *testing.T, variable, value string) {
	t.Helper()
	environment := slices.DeleteFunc(s.environment(), func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	f := start(t, s.binary, append(environment, variable+"="+value)...)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := f.wait(ctx); err != nil || f.Process.ProcessState.ExitCode() == 0 || !strings.Contains(f.log.String(), variable) {
		t.Errorf("with %s=%q the function ended with %v, %v, and logged %q", variable, value, f.Process.ProcessState, err, f.log)
	}
}

// deadline lets the deadline come while a request meets fault.
func (s *stage) deadline(t *testing.T, id int64, fault fault) {
	t.Helper()
	f := start(t, s.binary, s.environment()...)
	s.set(fault)
	got, err := f.invoke(event(newPlant(id, "oak"), fmt.Sprintf("key-%d", id)), 1500*time.Millisecond)
	if err != nil || got.code != 5004 {
		t.Errorf("id %d: answer = %v, %v, want 5004", id, got, err)
	}
	s.set(none)
	s.expectCreated(t, f, id)
}

// killed kills the function while a request meets fault.
func (s *stage) killed(t *testing.T, id int64, fault fault) {
	t.Helper()
	f := start(t, s.binary, s.environment()...)
	s.set(fault)
	for len(s.asked) > 0 {
		<-s.asked
	}
	if err := f.Begin(event(newPlant(id, "oak"), fmt.Sprintf("key-%d", id)), time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	<-s.asked
	f.Stop()
	s.set(none)
	s.expectCreated(t, start(t, s.binary, s.environment()...), id)
}

// A function answers the last of a thousand invocations as the first, and does
// not grow with them.
func TestManyInvocations(t *testing.T) {
	s := newStage(t)
	f := start(t, s.binary, s.environment()...)
	const limit = 40_000 // kB, about twice what it has after the first
	for id := range int64(processtest.Scale(200, 1000)) {
		s.expectCreated(t, f, id)
		if got, err := f.invoke(event(newPlant(id, "elm"), ""), time.Second*5); err != nil || got.code != 3001 {
			t.Fatalf("id %d: second answer = %v, %v, want 3001", id, got, err)
		}
	}
	if got := residentMemory(t, f); got > limit {
		t.Errorf("resident memory = %d kB, want at most %d", got, limit)
	}
	f.Stop() // and all that it wrote is read
	lines := strings.Count(f.log.String(), "\n")
	if want := 2 * processtest.Scale(200, 1000); lines != want {
		t.Errorf("the log has %d lines, want %d", lines, want)
	}
}

// residentMemory returns the memory that the function's process has, in kB.
func residentMemory(t *testing.T, f *function) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.Process.Process.Pid))
	if err != nil {
		t.Skip("skipped: the memory of a process is read from /proc")
	}
	size, err := strconv.Atoi(regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))[1])
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func signal(t *testing.T, f *function, s os.Signal) {
	t.Helper()
	if err := f.Process.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

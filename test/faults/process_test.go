package faults

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// stage is a built function, a proxy that is its DynamoDB, and a request.
type stage struct {
	*testing.T
	*database
	*proxy
	creation
	binary string
}

func newStage(t *testing.T, d *database, binary string) *stage {
	c := creation{id: d.newID(), name: "oak", key: "key"}
	return &stage{T: t, database: d, proxy: newProxy(t), creation: c, binary: binary}
}

// start starts the function and waits for the end of its initialization.
func (s *stage) start() *runtimeapi.Function {
	s.Helper()
	variables := processtest.Environment(s.URL, "PLANTS_TABLE="+s.plants)
	f, err := runtimeapi.Start(s.binary, variables...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(f.Stop)
	select {
	case <-f.Ready:
	case <-f.Ended:
	}
	return f
}

// expect lets f answer the request: it must answer code within timeout.
func (s *stage) expect(f *runtimeapi.Function, timeout time.Duration, code int) {
	s.Helper()
	response, _, err := f.Invoke(s.event(), timeout)
	if err != nil {
		f.Stop()
		s.Fatalf("answer to %+v = %v, want %d; the function's log: %s", s.creation, err, code, &f.Log)
	}
	got, err := decode(response)
	if err != nil {
		s.Fatal(err)
	}
	if got.code != code {
		f.Stop()
		s.Fatalf("answer to %+v = %+v, want %d; the function's log: %s", s.creation, got, code, &f.Log)
	}
}

// expectCreated is expect where the plant must be created, now or before by the
// same request.
func (s *stage) expectCreated(f *runtimeapi.Function) {
	s.Helper()
	s.expect(f, 10*time.Second, 0)
	there, err := s.find(s.id)
	if err != nil {
		s.Fatal(err)
	}
	if there != s.stored() {
		s.Fatalf("after %+v the table holds %+v, want %+v", s.creation, there, s.stored())
	}
}

// deadline lets the deadline come while the request meets fault.
func (s *stage) deadline(fault string) {
	f := s.start()
	s.standing.Store(named(fault))
	s.expect(f, 1500*time.Millisecond, 5004)
	s.standing.Store(none)
	s.expectCreated(f)
}

// killed kills the function while the request meets fault.
func (s *stage) killed(fault string) {
	f := s.start()
	s.standing.Store(named(fault))
	go f.Invoke(s.event(), 10*time.Second) //nolint:errcheck // the function ends before it answers
	<-s.stalled
	f.Stop()
	s.standing.Store(none)
	s.expectCreated(s.start())
}

// Whatever happens to a process, the next invocation of it, or of the process
// that replaces it, gets the right answer, and no plant is created twice.
func TestRuntimeFaults(t *testing.T) {
	binary := processtest.Build(t, "cmd/createplant") // before the parallel tests, as it needs the CPU
	t.Parallel()
	d := newDatabase(t)
	tests := []struct {
		name string
		run  func(*stage)
	}{
		{"DynamoDB is away at the start", func(s *stage) {
			s.standing.Store(named("reset before"))
			f := s.start()
			s.standing.Store(none)
			s.expectCreated(f)
		}},
		{"the deadline comes before the write", func(s *stage) { s.deadline("stall before") }},
		{"the deadline comes after the write", func(s *stage) { s.deadline("stall after") }},
		{"killed before the write", func(s *stage) { s.killed("stall before") }},
		{"killed after the write", func(s *stage) { s.killed("stall after") }},
		{"frozen until its connection is closed", func(s *stage) {
			f := s.start()
			_ = f.Process.Process.Signal(syscall.SIGSTOP)
			s.CloseClientConnections()
			_ = f.Process.Process.Signal(syscall.SIGCONT)
			s.expectCreated(f)
		}},
		{"DynamoDB answers twice, and the log does not show it", func(s *stage) {
			f := s.start()
			s.standing.Store(answeredTwice)
			s.expectCreated(f)
			time.Sleep(100 * time.Millisecond)
			f.Stop()
			if strings.Contains(f.Log.String(), "secret") {
				s.Errorf("the log = %s, want nothing of an answer", &f.Log)
			}
		}},
		{"told to stop between two invocations", func(s *stage) {
			f := s.start()
			s.expectCreated(f)
			_ = f.Process.Process.Signal(syscall.SIGTERM)
			select {
			case <-f.Ended:
			case <-time.After(5 * time.Second):
				s.Fatal("the function does not end")
			}
			s.expectCreated(s.start())
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for range processtest.Scale(1, 100) {
				test.run(newStage(t, d, binary))
			}
		})
	}
}

// A function lives through an outage of DynamoDB: it always answers in time, and
// once its retry quota is used up, after a single attempt. With SOAK, the log has
// the figures of docs/reliability.md.
func TestOutage(t *testing.T) {
	binary := processtest.Build(t, "cmd/createplant")
	t.Parallel()
	outages := []string{"500 before"}
	timeout := time.Second
	if processtest.Soak() {
		outages = append(outages, "stall before")
		timeout = 4 * time.Second
	}
	for _, fault := range outages {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, newDatabase(t), binary)
			f := s.start()
			s.standing.Store(named(fault))
			s.useUpQuota(f, timeout)
			s.standing.Store(none)
			s.expectCreated(f)
		})
	}
}

// useUpQuota sends requests until one is answered after a single attempt.
func (s *stage) useUpQuota(f *runtimeapi.Function, timeout time.Duration) {
	s.Helper()
	began := time.Now()
	for number := 1; ; number++ {
		before := s.attempts.Load()
		start := time.Now()
		s.expect(f, timeout, 5004)
		took := time.Since(start)
		attempts := s.attempts.Load() - before
		if took > createLimit+busy {
			s.Fatalf("answer %d took %v, want %v at most", number, took, createLimit)
		}
		if number == 1 || attempts == 1 {
			s.Logf("request %d, after %v: %d attempts in %v, so %.0f and %.0f executions at 100 and 1,000 requests/s",
				number, time.Since(began).Round(time.Second), attempts, took.Round(time.Millisecond), 100*took.Seconds(), 1000*took.Seconds())
		}
		if attempts == 1 {
			return
		}
	}
}

package faults

import (
	"flag"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// TestMain runs more tests at once than there are processors, because they wait more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	m.Run()
}

// stage is a built function, a proxy that is its DynamoDB, and a request.
type stage struct {
	*testing.T
	*database
	*proxy
	creation
	binary string
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
	response, _, err := f.Invoke(s.event(s.key), timeout)
	if err != nil {
		f.Stop()
		s.Fatalf("answer to %+v = %v, want %d; the function's log: %s", s.creation, err, code, &f.Log)
	}
	got, err := s.outcome(response)
	if err != nil {
		s.Fatal(err)
	}
	if got.code != code {
		f.Stop()
		s.Fatalf("answer to %+v = %+v, want %d; the function's log: %s", s.creation, got, code, &f.Log)
	}
}

// expectCreated is expect where the plant must be created, now or before by the same request.
func (s *stage) expectCreated(f *runtimeapi.Function) {
	s.Helper()
	s.expect(f, 10*time.Second, 0)
	if there := s.find(s.T, s.id); there != s.stored() {
		s.Fatalf("after %+v the table holds %+v, want %+v", s.creation, there, s.stored())
	}
}

// deadline lets the deadline come while the request meets a fault.
func (s *stage) deadline(hang fault) {
	f := s.start()
	s.meets(hang, always)
	s.expect(f, 1500*time.Millisecond, 5004)
	s.meets(nil, 0)
	s.expectCreated(f)
}

// killed kills the function while the request meets a fault.
func (s *stage) killed(hang fault) {
	f := s.start()
	s.meets(hang, always)
	go f.Invoke(s.event(s.key), 10*time.Second) //nolint:errcheck // the function ends before it answers
	<-s.stalled
	f.Stop()
	s.meets(nil, 0)
	s.expectCreated(s.start())
}

// outage uses up the retry quota of the function with short requests. From then on a request makes one attempt.
func (s *stage) outage() {
	f := s.start()
	s.meets(fail, always)
	for range 80 {
		_, _, err := f.Invoke(s.event(s.key), 600*time.Millisecond)
		if err != nil {
			s.Fatal(err)
		}
	}
	before := s.attempts.Load()
	s.expect(f, 4*time.Second, 5004)
	if n := s.attempts.Load() - before; n != 1 {
		s.Errorf("a request late in an outage made %d attempts, want 1", n)
	}
	s.meets(nil, 0)
	s.expectCreated(f)
}

// Whatever happens to a process, the next invocation of it, or of the process that replaces it, gets the
// right answer, and the table has the plant.
func TestRuntimeFaults(t *testing.T) {
	binary := processtest.Build(t, "cmd/createplant") // before the parallel tests, as it needs the CPU
	t.Parallel()
	d := newDatabase(t)
	tests := []struct {
		name string
		run  func(*stage)
	}{
		{name: "DynamoDB is away at the start", run: func(s *stage) {
			s.meets(hangUp, always)
			f := s.start()
			s.meets(nil, 0)
			s.expectCreated(f)
		}},
		{name: "the deadline comes before the write", run: func(s *stage) { s.deadline(stall) }},
		{name: "the deadline comes after the write", run: func(s *stage) { s.deadline(after(stall)) }},
		{name: "killed before the write", run: func(s *stage) { s.killed(stall) }},
		{name: "killed after the write", run: func(s *stage) { s.killed(after(stall)) }},
		{name: "a long outage", run: (*stage).outage},
		{name: "frozen until its connection is closed", run: func(s *stage) {
			f := s.start()
			_ = f.Process.Process.Signal(syscall.SIGSTOP)
			s.CloseClientConnections()
			_ = f.Process.Process.Signal(syscall.SIGCONT)
			s.expectCreated(f)
		}},
		{name: "DynamoDB answers twice, and the log does not show it", run: func(s *stage) {
			f := s.start()
			s.meets(twice, always)
			s.expectCreated(f)
			time.Sleep(100 * time.Millisecond)
			f.Stop()
			if strings.Contains(f.Log.String(), "secret") {
				s.Errorf("the log = %s, want nothing of an answer", &f.Log)
			}
		}},
		{name: "told to stop between two invocations", run: func(s *stage) {
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
				c := creation{id: rand.Int64(), name: "fern", key: "key"}
				test.run(&stage{T: t, database: d, proxy: newProxy(t, d), creation: c, binary: binary})
			}
		})
	}
}

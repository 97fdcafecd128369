package faults

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

func TestMain(m *testing.M) { processtest.RunAtOnce(m) }

// A trial is a request to a built function, whose DynamoDB is a database behind a proxy.
type trial struct {
	t        *testing.T
	binary   string
	database *database
	proxy    *proxy
	request  creation
}

// start starts the function and waits for the end of its initialization.
func (tr *trial) start() *runtimeapi.Function {
	tr.t.Helper()
	variables := processtest.Environment(tr.proxy.URL, "PLANTS_TABLE="+tr.database.plants)
	f, err := runtimeapi.Start(tr.binary, variables...)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(f.Stop)
	select {
	case <-f.Ready:
	case <-f.Ended:
	}
	return f
}

// expect lets f answer the request: it must answer code within timeout.
func (tr *trial) expect(f *runtimeapi.Function, timeout time.Duration, code int) {
	tr.t.Helper()
	response, _, err := f.Invoke(tr.request.event(tr.request.key), timeout)
	if err != nil {
		f.Stop()
		tr.t.Fatalf("answer to %+v = %v, want %d; the function's log: %s", tr.request, err, code, &f.Log)
	}
	got, err := tr.request.read(response)
	if err != nil {
		tr.t.Fatal(err)
	}
	if got.code != code {
		f.Stop()
		tr.t.Fatalf("answer to %+v = %+v, want %d; the function's log: %s", tr.request, got, code, &f.Log)
	}
}

// expectCreated is expect where the plant must be created, now or before by the same request.
func (tr *trial) expectCreated(f *runtimeapi.Function) {
	tr.t.Helper()
	tr.expect(f, 10*time.Second, 0)
	if there := tr.database.find(tr.t, tr.request.id); there != tr.request.stored() {
		tr.t.Fatalf("after %+v the table holds %+v, want %+v", tr.request, there, tr.request.stored())
	}
}

// deadline lets the invocation time out during a fault.
func (tr *trial) deadline(hang fault) {
	f := tr.start()
	tr.proxy.meets(hang, always)
	tr.expect(f, 1500*time.Millisecond, 5004)
	tr.proxy.recovers()
	tr.expectCreated(f)
}

// killed kills the function during a fault.
func (tr *trial) killed(hang fault) {
	f := tr.start()
	tr.proxy.meets(hang, always)
	go f.Invoke(tr.request.event(tr.request.key), 10*time.Second) //nolint:errcheck // the function ends before it answers
	<-tr.proxy.stalled
	f.Stop()
	tr.proxy.recovers()
	tr.expectCreated(tr.start())
}

// Whatever happens to a process, the next invocation of it, or of the process that replaces it, gets the
// right answer, and the table has the plant.
func TestRuntimeFaults(t *testing.T) {
	binary := processtest.Build(t, "cmd/createplant") // before the parallel tests, as it needs the CPU
	t.Parallel()
	d := newDatabase(t)
	tests := []struct {
		name string
		run  func(*trial)
	}{
		{name: "DynamoDB is away at the start", run: func(tr *trial) {
			tr.proxy.meets(hangUp, always)
			f := tr.start()
			tr.proxy.recovers()
			tr.expectCreated(f)
		}},
		{name: "the deadline comes before the write", run: func(tr *trial) { tr.deadline(stall) }},
		{name: "the deadline comes after the write", run: func(tr *trial) { tr.deadline(after(stall)) }},
		{name: "killed before the write", run: func(tr *trial) { tr.killed(stall) }},
		{name: "killed after the write", run: func(tr *trial) { tr.killed(after(stall)) }},
		{name: "frozen until its connection is closed", run: func(tr *trial) {
			f := tr.start()
			_ = f.Process.Process.Signal(syscall.SIGSTOP)
			tr.proxy.CloseClientConnections()
			_ = f.Process.Process.Signal(syscall.SIGCONT)
			tr.expectCreated(f)
		}},
		{name: "DynamoDB answers twice, and the log does not show it", run: func(tr *trial) {
			f := tr.start()
			tr.proxy.meets(twice, always)
			tr.expectCreated(f)
			time.Sleep(100 * time.Millisecond)
			f.Stop()
			if strings.Contains(f.Log.String(), "secret") {
				tr.t.Errorf("the log = %s, want nothing of an answer", &f.Log)
			}
		}},
		{name: "told to stop between two invocations", run: func(tr *trial) {
			f := tr.start()
			tr.expectCreated(f)
			_ = f.Process.Process.Signal(syscall.SIGTERM)
			select {
			case <-f.Ended:
			case <-time.After(5 * time.Second):
				tr.t.Fatal("the function does not end")
			}
			tr.expectCreated(tr.start())
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for range processtest.Scale(1, 100) {
				c := creation{id: rand.Int64(), name: "fern", key: "key"}
				test.run(&trial{t: t, binary: binary, database: d, proxy: newProxy(t, d), request: c})
			}
		})
	}
}

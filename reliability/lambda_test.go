package reliability

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// function is a built function in a process of its own, behind the Lambda
// Runtime API. Source: Lambda Developer Guide, "Using the Lambda runtime API".
type function struct {
	process     *exec.Cmd
	invocations chan invocation
	answers     chan []byte
	ended       chan struct{} // closed when the process has ended
	log         *buffer
}

type invocation struct {
	event    []byte
	deadline time.Time
}

// start starts a function with these variables and no others.
func start(t *testing.T, binary string, environment ...string) *function {
	t.Helper()
	f := &function{
		invocations: make(chan invocation),
		answers:     make(chan []byte, 1),
		ended:       make(chan struct{}),
		log:         new(buffer),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{outcome}", f.answered)
	server := httptest.NewServer(mux)
	f.process = exec.Command(binary) //nolint:noctx // the test kills it
	f.process.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(server.URL, "http://")}, environment...)
	f.process.Stdout, f.process.Stderr = f.log, f.log
	if err := f.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = f.process.Wait() // the test looks at ProcessState
		close(f.ended)
	}()
	t.Cleanup(func() {
		f.kill()
		server.CloseClientConnections()
		server.Close()
	})
	return f
}

func (f *function) next(w http.ResponseWriter, r *http.Request) {
	select {
	case i := <-f.invocations:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(i.deadline.UnixMilli()))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:f")
		_, _ = w.Write(i.event)
	case <-r.Context().Done():
	}
}

func (f *function) answered(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.PathValue("outcome") != "response" {
		body = fmt.Appendf(nil, "function %s: %s", r.PathValue("outcome"), body)
	}
	w.WriteHeader(http.StatusAccepted)
	f.answers <- body
}

// invoke hands event to the function and returns its answer.
func (f *function) invoke(event []byte, timeout time.Duration) (answer, error) {
	deadline := time.Now().Add(timeout)
	if err := f.begin(event, deadline); err != nil {
		return answer{}, err
	}
	select {
	case response := <-f.answers:
		return decode(response)
	case <-f.ended:
		return answer{}, fmt.Errorf("the function has ended: %v: %s", f.process.ProcessState, f.log)
	case <-time.After(time.Until(deadline)):
		return answer{}, errors.New("no answer before the deadline")
	}
}

// begin hands event to the function and does not wait for the answer.
func (f *function) begin(event []byte, deadline time.Time) error {
	select {
	case f.invocations <- invocation{event, deadline}:
		return nil
	case <-f.ended:
		return fmt.Errorf("the function has ended: %v: %s", f.process.ProcessState, f.log)
	case <-time.After(10 * time.Second):
		return errors.New("the function does not ask for an invocation")
	}
}

func (f *function) kill() {
	_ = f.process.Process.Kill() // it may have ended
	<-f.ended
}

// wait waits for the function to end.
func (f *function) wait(ctx context.Context) error {
	select {
	case <-f.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// buffer keeps what several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

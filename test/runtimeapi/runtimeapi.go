// Package runtimeapi runs a built Lambda function as Lambda does: in a process of
// its own, which gets its invocations from the Lambda Runtime API. Source: Lambda
// Developer Guide, "Using the Lambda runtime API".
package runtimeapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Function is a running function.
type Function struct {
	Process *exec.Cmd // must not be waited for
	Started time.Time
	Log     bytes.Buffer // what the process wrote; to be read once it has ended

	// Ready is closed when the function first asks for an invocation, which ends
	// its initialization, and Ended when its process has ended.
	Ready, Ended chan struct{}

	api         *httptest.Server
	readyOnce   sync.Once
	invocations chan invocation
	answers     chan answer
}

type invocation struct {
	event    []byte
	deadline time.Time
}

type answer struct {
	body []byte
	at   time.Time
}

// Start starts the function in binary with these variables and no others.
func Start(binary string, environment ...string) (*Function, error) {
	f := &Function{
		Process:     exec.Command(binary),
		Ready:       make(chan struct{}),
		Ended:       make(chan struct{}),
		invocations: make(chan invocation),
		answers:     make(chan answer, 1),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{outcome}", f.answered)
	f.api = httptest.NewServer(mux)
	f.Process.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(f.api.URL, "http://")}, environment...)
	f.Process.Stdout, f.Process.Stderr = &f.Log, &f.Log
	f.Started = time.Now()
	if err := f.Process.Start(); err != nil {
		f.api.Close()
		return nil, err
	}
	go func() {
		_ = f.Process.Wait() // its error is in ProcessState too
		close(f.Ended)
	}()
	return f, nil
}

// Stop kills the function.
func (f *Function) Stop() {
	_ = f.Process.Process.Kill() // it may have ended
	<-f.Ended
	f.api.CloseClientConnections()
	f.api.Close()
}

// Invoke hands event to the function and returns its answer, and the time from
// the one to the other. If the function fails, the answer is its error.
func (f *Function) Invoke(event []byte, timeout time.Duration) ([]byte, time.Duration, error) {
	late := time.After(timeout)
	select {
	case f.invocations <- invocation{event, time.Now().Add(timeout)}:
	case <-f.Ended:
		return nil, 0, f.ended()
	case <-late:
		return nil, 0, errors.New("the function does not ask for an invocation")
	}
	began := time.Now()
	select {
	case a := <-f.answers:
		return a.body, a.at.Sub(began), nil
	case <-f.Ended:
		return nil, 0, f.ended()
	case <-late:
		return nil, 0, errors.New("no answer before the deadline")
	}
}

func (f *Function) ended() error {
	return fmt.Errorf("the function has ended: %v", f.Process.ProcessState)
}

func (f *Function) next(w http.ResponseWriter, r *http.Request) {
	f.readyOnce.Do(func() { close(f.Ready) })
	select {
	case i := <-f.invocations:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(i.deadline.UnixMilli()))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:f")
		_, _ = w.Write(i.event) // fails if the function has ended
	case <-r.Context().Done():
	}
}

func (f *Function) answered(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	at := time.Now()
	if err != nil {
		return
	}
	if r.PathValue("outcome") != "response" {
		body = fmt.Appendf(nil, "function %s: %s", r.PathValue("outcome"), body)
	}
	w.WriteHeader(http.StatusAccepted)
	f.answers <- answer{body, at}
}

// Package lambdatest runs Lambda functions in processes of their own, for tests and the benchmark.
package lambdatest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// asFunction is the environment variable that makes a test binary run as the function under test.
const asFunction = "RUN_AS_FUNCTION"

// Main is the TestMain of a function. It runs the tests or, in a process with the variables of [Environment], the function.
func Main(m *testing.M, function func()) {
	if os.Getenv(asFunction) == "yes" {
		function()
		return
	}
	m.Run()
}

// Environment returns the environment of a function that uses the DynamoDB at endpoint, with the given variables added.
// Lambda sets the log format because template.yaml asks for JSON.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		asFunction + "=yes", "GORACE=" + os.Getenv("GORACE"), "AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_LAMBDA_LOG_FORMAT=JSON",
	}, others...)
}

// An Answer is a function's answer to an event.
type Answer struct {
	Body string
	Took time.Duration // since the function got the event
}

// Invoke runs a function, gives it the events one by one, and returns its answers and what it printed.
func Invoke(t testing.TB, program string, environment []string, events ...string) (answers []Answer, log string) {
	t.Helper()
	function := Start(t, program, environment)
	for _, event := range events {
		answers = append(answers, function.Invoke(event))
	}
	return answers, function.Stop()
}

// A Function is a function in a process of its own, behind a stand-in for Lambda's Runtime API.
type Function struct {
	*os.Process
	t        testing.TB
	runtime  *httptest.Server
	requests chan string // an answer, or "" when the function asks for an event
	events   chan string
	exited   chan struct{} // closed when the process has exited
	printed  bytes.Buffer
}

// Start starts a function, and waits until it asks for its first event.
func Start(t testing.TB, program string, environment []string) *Function {
	t.Helper()
	f := &Function{t: t, requests: make(chan string, 1), events: make(chan string, 1), exited: make(chan struct{})}
	f.runtime = httptest.NewServer(http.HandlerFunc(f.serve))
	command := exec.CommandContext(t.Context(), program)
	command.Env = slices.Concat(environment, []string{"AWS_LAMBDA_RUNTIME_API=" + f.runtime.Listener.Addr().String()})
	command.Stdout, command.Stderr = &f.printed, &f.printed
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	f.Process = command.Process
	go func() {
		_ = command.Wait() // it fails, because only a signal ends a function
		close(f.exited)
	}()
	f.receive()
	return f
}

// Invoke gives the function an event, and returns its answer once the function has asked for the next event.
func (f *Function) Invoke(event string) Answer {
	f.t.Helper()
	begin := time.Now()
	f.events <- event
	body := f.receive()
	took := time.Since(begin)
	f.receive()
	return Answer{Body: body, Took: took}
}

// Stop kills the function, as Lambda does, and returns what it printed.
func (f *Function) Stop() (log string) {
	_ = f.Kill() // it fails only if the process has exited
	<-f.exited
	close(f.events) // otherwise the runtime would wait for another event
	f.runtime.Close()
	return f.printed.String()
}

func (f *Function) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the test fails if a part is missing
	f.requests <- string(body)
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	event := <-f.events
	w.Header().Set("Lambda-Runtime-Aws-Request-Id", "lambda-1")
	w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
	_, _ = io.WriteString(w, event) // it fails only if the function has exited
}

func (f *Function) receive() (request string) {
	f.t.Helper()
	select {
	case request = <-f.requests:
	case <-f.exited:
		f.t.Fatalf("the function exits and logs %s", &f.printed)
	}
	return request
}

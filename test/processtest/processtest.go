// Package processtest re-executes the test binary as the command under test.
package processtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"
)

// SkipWithout skips a test that needs something that this machine lacks. With CI=true, it fails the test.
func SkipWithout(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("skipped: this test needs " + what)
}

// AsCommand is the environment variable that makes a test binary run as the command. See [Main].
const AsCommand = "RUN_AS_COMMAND=yes"

// Main is the TestMain of a command. It runs the tests or, in a process with [AsCommand], the command.
func Main(m *testing.M, command func()) {
	if os.Getenv("RUN_AS_COMMAND") == "yes" {
		command()
		return
	}
	m.Run()
}

// Environment returns the environment of a function that uses the DynamoDB at endpoint, with the given variables added.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		AsCommand, "GORACE=" + os.Getenv("GORACE"), "AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_LAMBDA_LOG_FORMAT=JSON",
	}, others...)
}

// An Answer is a function's answer to an event.
type Answer struct {
	Body string
	Took time.Duration // since the function got the event
}

// Invoke runs a function behind a stand-in for Lambda's Runtime API, and gives it the events one by one. The
// function exits after the last one. Invoke also returns what it printed.
func Invoke(t testing.TB, program string, environment []string, events ...string) (answers []Answer, log string) {
	t.Helper()
	function := exec.CommandContext(t.Context(), program)
	function.Env = environment
	return InvokeCommand(t, function, func() {}, events...)
}

// InvokeCommand is [Invoke] for a command that has not been started. It calls ready when the function asks for its first
// event. The function exits because the stand-in accepts the last answer with status 200 instead of 202.
func InvokeCommand(t testing.TB, function *exec.Cmd, ready func(), events ...string) (answers []Answer, log string) {
	t.Helper()
	var begin time.Time
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body) // the test fails if a part is missing
			answers = append(answers, Answer{Body: string(body), Took: time.Since(begin)})
			if len(answers) < len(events) {
				w.WriteHeader(http.StatusAccepted)
			}
			return
		}
		if len(answers) == 0 {
			ready()
		}
		begin = time.Now()
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "lambda-1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		_, _ = io.WriteString(w, events[len(answers)]) // it fails only if the function has exited
	}))
	function.Env = append(function.Env, "AWS_LAMBDA_RUNTIME_API="+runtime.Listener.Addr().String())
	printed, _ := function.CombinedOutput() // the function fails because of the status 200
	runtime.Close()
	if len(answers) != len(events) {
		t.Fatalf("the function answers %d of %d events, and logs %s", len(answers), len(events), printed)
	}
	return answers, string(printed)
}

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

// SkipWithout skips a test that needs something which this machine lacks. With CI=true, it fails the test.
func SkipWithout(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("skipped: this test needs " + what)
}

// AsCommand is the environment variable with which a test binary runs as the command. See [Main].
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
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

// Invoke starts a function behind a stand-in for Lambda's Runtime API and gives it an event. It returns the answer, and
// how long that took. The function then exits, because the stand-in takes the answer with status 200, not 202.
func Invoke(t testing.TB, program string, environment []string, event string) (answer string, took time.Duration) {
	t.Helper()
	var began time.Time
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			content, _ := io.ReadAll(r.Body) // the test finds what it lacks
			answer, took = string(content), time.Since(began)
			return
		}
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		_, _ = io.WriteString(w, event) // it fails only if the function has exited
	}))
	function := exec.CommandContext(t.Context(), program)
	function.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String()}, environment...)
	began = time.Now()
	printed, _ := function.CombinedOutput() // the stand-in makes it fail
	runtime.Close()
	if answer == "" {
		t.Fatalf("the function gives no answer and logs %s", printed)
	}
	return answer, took
}

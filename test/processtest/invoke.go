package processtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// Invoke starts a function in a stand-in for Lambda, gives it the same event twice, and returns its two
// answers. The program of a command's tests is that function, too: see [Main]. The function then ends, because the stand-in takes the second answer with status 200, not 202.
func Invoke(t testing.TB, binary string, environment []string, event string) (answers []string) {
	t.Helper()
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
			_, _ = io.WriteString(w, event) // it fails only if the function has ended
			return
		}
		answer, _ := io.ReadAll(r.Body) // the test finds what it lacks
		answers = append(answers, string(answer))
		if len(answers) < 2 {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	function := exec.CommandContext(t.Context(), binary)
	function.Env = slices.Concat(environment, []string{"AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String()})
	printed, _ := function.CombinedOutput() // the stand-in makes it fail
	runtime.Close()
	if len(answers) != 2 {
		t.Fatalf("the function answers %q and logs %s, want two answers", answers, printed)
	}
	return answers
}

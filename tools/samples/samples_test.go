package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/api"
)

const folder = "../../events"

// checkAnswer checks that the answer to a sample event is the one that events/README.md states.
func checkAnswer(t *testing.T, s sample, answer []byte) {
	t.Helper()
	got := ""
	if s.function == authorizer {
		var verdict struct {
			Context struct{ Verdict, Reason string }
		}
		decode(t, answer, &verdict)
		got = strings.TrimSpace(verdict.Context.Verdict + " " + verdict.Context.Reason)
	} else {
		var response events.APIGatewayV2HTTPResponse
		decode(t, answer, &response)
		got = fmt.Sprintf("%d `%s`", response.StatusCode, response.Body)
		if response.StatusCode == http.StatusBadRequest {
			var refusal api.Error
			decode(t, []byte(response.Body), &refusal)
			got = fmt.Sprintf("400 error %d", refusal.Code)
		}
	}
	if got != s.answer {
		t.Errorf("%s gets %s, in words %s, want %s", s.file(), answer, got, s.answer)
	}
}

func decode(t *testing.T, content []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("answer has %q: %v", content, err)
	}
}

func TestEventsAreWhatTheCommandWrites(t *testing.T) {
	written := t.TempDir()
	if err := os.CopyFS(written, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := writeEvents(t.Context(), written); err != nil {
		t.Fatal(err)
	}
	diff, err := exec.CommandContext(t.Context(), "diff", "-ru", folder, written).CombinedOutput()
	if err != nil {
		t.Errorf("run `go run ./tools/samples -events`, which makes these changes:\n%s", diff)
	}
}

// An event gets its answer each time.
func TestEachEventGetsItsAnswer(t *testing.T) {
	for _, sample := range allSamples() {
		t.Run(sample.file(), func(t *testing.T) {
			service, err := newService(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			event, err := os.ReadFile(folder + "/" + sample.file())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				answer, err := service.of(sample).Invoke(t.Context(), event)
				if err != nil {
					t.Fatal(err)
				}
				checkAnswer(t, sample, answer)
			}
		})
	}
}

// CI runs this with SAM and Docker, after `sam build` and `make dynamodb`.
func TestEachEventGetsItsAnswerThroughSAMLocal(t *testing.T) {
	if os.Getenv("SAM_LOCAL") == "" {
		t.Skip("skipped: SAM_LOCAL=1 runs this, after `sam build` and `make dynamodb`")
	}
	for _, sample := range allSamples() {
		t.Run(sample.file(), func(t *testing.T) {
			arguments := []string{"local", "invoke", sample.function + "Function", "-e", "events/" + sample.file()}
			command := exec.CommandContext(t.Context(), "sam", arguments...)
			command.Dir = "../.."
			var stderr strings.Builder
			command.Stderr = &stderr
			answer, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %v\n%s", command, err, stderr.String())
			}
			checkAnswer(t, sample, answer)
		})
	}
}

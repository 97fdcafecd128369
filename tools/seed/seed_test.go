package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"plantstore/internal/api"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

var files = os.DirFS("../../events")

// answers returns the answer that events/README.md states for each event.
func answers(t *testing.T) map[string]string {
	t.Helper()
	readme, err := os.ReadFile("../../events/README.md")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+\\.json)` \\| (.+) \\|$").FindAllStringSubmatch(string(readme), -1) {
		answers[row[1]] = strings.ReplaceAll(row[2], "`", "")
	}
	return answers
}

func TestEachEventGetsItsAnswer(t *testing.T) {
	testAnswers(t, func(t *testing.T, path string) []byte {
		plants, tokens := new(memory.PlantStore), new(memory.TokenStore)
		if err := seed(t.Context(), files, plants, tokens, time.Now()); err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		invoke := (&api.CreatePlant{Plants: plants, Log: log, Now: time.Now, NewKey: func() string { return "fresh" }}).Invoke
		if strings.HasPrefix(path, "authorizer/") {
			invoke = (&api.Authorizer{Tokens: token.Verifier{Store: tokens, Now: time.Now}, Log: log, Now: time.Now}).Invoke
		}
		event, err := fs.ReadFile(files, path)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := invoke(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	})
}

// CI runs this with SAM and Docker, after `sam build` and `make dynamodb`. Each
// event gets its answer each time that it is invoked.
func TestEachEventGetsItsAnswerThroughSAMLocal(t *testing.T) {
	if os.Getenv("SAM_LOCAL") == "" {
		t.Skip("skipped: SAM_LOCAL=1 runs this, after `sam build` and `make dynamodb`")
	}
	for range 2 {
		testAnswers(t, func(t *testing.T, path string) []byte {
			function := map[string]string{"createplant": "CreatePlantFunction", "authorizer": "AuthorizerFunction"}[filepath.Dir(path)]
			command := exec.CommandContext(t.Context(), "sam", "local", "invoke", function, "-e", "events/"+path)
			command.Dir = "../.."
			var stderr strings.Builder
			command.Stderr = &stderr
			answer, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %v\n%s", command, err, stderr.String())
			}
			return answer
		})
	}
}

// testAnswers compares the answer to each event with the one in README.md.
func testAnswers(t *testing.T, invoke func(t *testing.T, path string) []byte) {
	want := answers(t)
	paths, err := fs.Glob(files, "*/*.json")
	if err != nil || len(paths) == 0 || len(paths) != len(want) {
		t.Fatalf("there are %d events and %d answers in README.md (%v)", len(paths), len(want), err)
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			answer := invoke(t, path)
			if got := inWords(t, answer); got != want[path] {
				t.Errorf("answer = %s, in words %q, want %q", answer, got, want[path])
			}
		})
	}
}

// The events hold what AWS sends and nothing else: they decode strictly into
// the types of aws-lambda-go.
func TestEventsAreOfPayloadFormat2(t *testing.T) {
	types := map[string]func() any{
		"createplant": func() any { return new(events.APIGatewayV2HTTPRequest) },
		"authorizer":  func() any { return new(events.APIGatewayV2CustomAuthorizerV2Request) },
	}
	for folder, newEvent := range types {
		paths, err := fs.Glob(files, folder+"/*.json")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no events in %s (%v)", folder, err)
		}
		for _, path := range paths {
			content, err := fs.ReadFile(files, path)
			if err != nil {
				t.Fatal(err)
			}
			decoder := json.NewDecoder(bytes.NewReader(content))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(newEvent()); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// inWords returns the answer of either function as README.md words it.
func inWords(t *testing.T, answer []byte) string {
	t.Helper()
	var fields struct {
		StatusCode int
		Body       string
		Context    struct{ Verdict, Reason string }
	}
	if err := json.Unmarshal(answer, &fields); err != nil {
		t.Fatalf("answer %q: %v", answer, err)
	}
	if fields.StatusCode == 0 {
		return strings.TrimSpace(fields.Context.Verdict + " " + fields.Context.Reason)
	}
	var refusal api.Error
	if err := json.Unmarshal([]byte(fields.Body), &refusal); err != nil {
		t.Fatal(err)
	}
	if refusal.Code != 0 {
		return fmt.Sprintf("%d error %d", fields.StatusCode, refusal.Code)
	}
	return fmt.Sprintf("%d %s", fields.StatusCode, fields.Body)
}

package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path"
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

func TestEachEventGetsItsAnswer(t *testing.T) {
	testAnswers(t, func(t *testing.T, name string) []byte {
		plants, tokens := new(memory.Plants), new(memory.Tokens)
		if err := seed(t.Context(), files, plants, tokens, time.Now()); err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		createPlant := &api.Service{Plants: plants, Log: log, Now: time.Now, NewKey: rand.Text}
		invoke, decoded := createPlant.Invoke, any(new(events.APIGatewayV2HTTPRequest))
		if path.Dir(name) == "authorizer" {
			verifier := token.Verifier{Store: tokens, Now: time.Now}
			invoke = (&api.Authorizer{Verify: verifier.Verify, Log: log, Now: time.Now}).Invoke
			decoded = new(events.APIGatewayV2CustomAuthorizerV2Request)
		}
		event, err := fs.ReadFile(files, name)
		// An event has what AWS sends and nothing else.
		decoder := json.NewDecoder(bytes.NewReader(event))
		decoder.DisallowUnknownFields()
		answer, invokeErr := invoke(t.Context(), event)
		if err := errors.Join(err, decoder.Decode(decoded), invokeErr); err != nil {
			t.Error(err)
		}
		return answer
	})
}

// The tokens and digests in the events are those that the command writes.
func TestEventsAreSealed(t *testing.T) {
	names, err := fs.Glob(files, "*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		event, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if seal(string(event)) != string(event) {
			t.Errorf("%s is not as the command writes it: run `go run ./tools/seed -events`", name)
		}
	}
}

// CI runs this with SAM and Docker, after `sam build` and `make dynamodb`. An event gets its answer each time.
func TestEachEventGetsItsAnswerThroughSAMLocal(t *testing.T) {
	if os.Getenv("SAM_LOCAL") == "" {
		t.Skip("skipped: SAM_LOCAL=1 runs this, after `sam build` and `make dynamodb`")
	}
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		testAnswers(t, func(t *testing.T, name string) []byte {
			function := regexp.MustCompile(`(?im)^  (` + path.Dir(name) + `Function):$`).FindSubmatch(template)[1]
			arguments := []string{"local", "invoke", string(function), "-e", "events/" + name}
			command := exec.CommandContext(t.Context(), "sam", arguments...)
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

// testAnswers compares the answer to each event with the one that events/README.md states.
func testAnswers(t *testing.T, invoke func(t *testing.T, name string) []byte) {
	t.Helper()
	readme, err := fs.ReadFile(files, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+\\.json)` \\| (.+) \\|$").FindAllSubmatch(readme, -1) {
		want[string(row[1])] = strings.ReplaceAll(string(row[2]), "`", "")
	}
	names, err := fs.Glob(files, "*/*.json")
	if err != nil || len(names) == 0 || len(names) != len(want) {
		t.Fatalf("there are the events %v and the answers %v (%v), want an answer for each", names, want, err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			answer := invoke(t, name)
			if got := inWords(t, answer); got != want[name] {
				t.Errorf("answer = %s, in words %q, want %q", answer, got, want[name])
			}
		})
	}
}

// inWords returns the answer of a function as events/README.md words it.
func inWords(t *testing.T, answer []byte) string {
	t.Helper()
	var fields struct {
		StatusCode int
		Body       string
		Context    struct{ Verdict, Reason string }
	}
	var refusal api.Error
	err := json.Unmarshal(answer, &fields)
	switch {
	case err == nil && fields.StatusCode == 0:
		return strings.TrimSpace(fields.Context.Verdict + " " + fields.Context.Reason)
	case cmp.Or(err, json.Unmarshal([]byte(fields.Body), &refusal)) != nil:
		t.Fatalf("answer = %q (%v), want JSON", answer, err)
	case refusal.Code != 0:
		return fmt.Sprintf("%d error %d", fields.StatusCode, refusal.Code)
	}
	return fmt.Sprintf("%d %s", fields.StatusCode, fields.Body)
}

package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

const folder = "../../events"

// Each sample event has a row in events/README.md, and gets the answer that stands there each time.
func TestEachEventGetsItsAnswer(t *testing.T) {
	readme, err := os.ReadFile(folder + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(.+?)` \\| (.+) \\|$").FindAllStringSubmatch(string(readme), -1)
	files, err := filepath.Glob(folder + "/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(files) {
		t.Errorf("events/README.md has %d rows, want one for each of %q", len(rows), files)
	}
	for _, row := range rows {
		file, want := row[1], row[2]
		t.Run(file, func(t *testing.T) {
			event, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			function := newFunction(t, filepath.Dir(file))
			for range 2 {
				answer, err := function.Invoke(t.Context(), event)
				if err != nil {
					t.Fatal(err)
				}
				if got := inWords(t, answer); got != want {
					t.Errorf("%s gets %s, in words %s, want %s", file, answer, got, want)
				}
			}
		})
	}
}

// newFunction returns the function that gets the events of a folder. Its stores have what they need.
func newFunction(t *testing.T, folder string) lambda.Handler {
	t.Helper()
	plants, tokens := new(memory.Plants), new(memory.Tokens)
	if err := seed(t.Context(), plants, tokens, time.Now()); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if folder == "authorizer" {
		verifier := token.Verifier{Store: tokens, Now: time.Now}
		return &api.Authorizer{Verify: verifier.Verify, Log: log, Now: time.Now}
	}
	return &api.Service{Plants: plants, Log: log, Now: time.Now, NewKey: rand.Text}
}

// inWords returns an answer as events/README.md states it.
func inWords(t *testing.T, answer []byte) string {
	t.Helper()
	var got struct {
		StatusCode int
		Body       string
		Context    struct{ Verdict, Reason string } // of the authorizer's answer
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	var refusal api.Error
	_ = json.Unmarshal([]byte(got.Body), &refusal) // fails for the authorizer, which has no body
	switch {
	case got.StatusCode == 0:
		return strings.TrimSpace(got.Context.Verdict + " " + got.Context.Reason)
	case refusal.Code != 0:
		return fmt.Sprintf("%d error %d", got.StatusCode, refusal.Code)
	}
	return fmt.Sprintf("%d `%s`", got.StatusCode, got.Body)
}

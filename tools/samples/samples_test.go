package main

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

const folder = "../../events"

// Each sample event has a row in events/README.md, and gets an answer with the words that stand there
// each time.
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
			synctest.Test(t, func(t *testing.T) {
				function := newFunction(t, filepath.Dir(file))
				time.Sleep(12 * time.Hour) // on the same day
				for range 2 {
					answer, err := function.Invoke(t.Context(), event)
					if err != nil {
						t.Fatal(err)
					}
					got := strings.ReplaceAll(string(answer), `\"`, `"`) // the body is a text in the answer
					for word := range strings.FieldsSeq(strings.ReplaceAll(want, "`", "")) {
						if !strings.Contains(got, word) {
							t.Errorf("%s gets %s, want %s", file, got, want)
						}
					}
				}
			})
		})
	}
}

// newFunction returns the function that gets the events of a folder. Its store has what they need.
func newFunction(t *testing.T, folder string) lambda.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	tokens, plants := new(memory.Tokens), new(memory.Plants)
	if err := seed(t.Context(), tokens, plants, time.Now()); err != nil {
		t.Fatal(err)
	}
	if folder != "authorizer" {
		return &api.Service{Plants: plants, Log: log, NewKey: rand.Text}
	}
	return &api.Authorizer{Verifier: token.StoreVerifier{Store: tokens}, Log: log}
}

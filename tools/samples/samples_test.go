package main

import (
	"crypto/rand"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/memory"
)

// The sample events get the answers that events/README.md names, however often they are sent.
func TestEvents(t *testing.T) {
	log, tokens := slog.New(slog.DiscardHandler), new(memory.Tokens)
	if err := tokens.Add(t.Context(), newSample()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		function   lambda.Handler
		file, want string
	}{
		{&api.Authorizer{Tokens: tokens, Log: log}, "authorizer/create.json", `"verdict":"allow"`},
		{
			&api.CreatePlant{Plants: new(memory.Plants), Log: log, NewKey: rand.Text}, "createplant/create.json",
			`{\"name\":\"Monstera\",\"tag\":\"indoor\"}`,
		},
	} {
		event, err := os.ReadFile("../../events/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer, err := test.function.Invoke(t.Context(), event)
			if err != nil || !strings.Contains(string(answer), test.want) {
				t.Errorf("%s gets %s, %v, want %s", test.file, answer, err, test.want)
			}
		}
	}
}

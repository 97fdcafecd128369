package main

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/memory"
)

// The sample events get the answers that events/README.md names, however often they are sent.
func TestEvents(t *testing.T) {
	log, tokens := slog.New(slog.DiscardHandler), new(memory.Tokens)
	if err := tokens.Add(t.Context(), newSample(time.Now())); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file, want string
		function   lambda.Handler
	}{
		{"authorizer/create.json", `"verdict":"allow"`, &api.Authorizer{Tokens: tokens, Log: log}},
		{"createplant/create.json", `{\"name\":\"Monstera\",\"tag\":\"indoor\"}`, &api.CreatePlant{Plants: new(memory.Plants), Log: log, NewKey: rand.Text}},
	}
	for _, test := range tests {
		event, err := os.ReadFile("../../events/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer, err := test.function.Invoke(t.Context(), event)
			if err != nil || !bytes.Contains(answer, []byte(test.want)) {
				t.Errorf("%s gets %s, %v, want %s", test.file, answer, err, test.want)
			}
		}
	}
}

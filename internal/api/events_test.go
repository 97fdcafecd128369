package api

import (
	"encoding/json/v2"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/token"
)

// events/README.md lists every sample event with its answer.
func TestSampleEvents(t *testing.T) {
	const bearer = "pst_SAMPLETOKEN2NOTSECRETINTHISFOLDER22222d2874592"
	log := slog.New(slog.DiscardHandler)
	sample := token.Token{Digest: token.Digest(bearer), Subject: "alice", ExpiresAt: time.Now().Add(time.Hour)}
	functions := map[string]Handler{
		"Authorizer":  &Authorizer{Tokens: memory.Tokens{"SAMPLETOKEN2": sample}, Log: log},
		"CreatePlant": Routes(new(memory.Plants), log)[createRoute],
	}
	readme, err := os.ReadFile("../../events/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("invoke (.+)Function -e (.+)` \\| `(.+)`").FindAllStringSubmatch(string(readme), -1)
	if files, _ := filepath.Glob("../../events/*/*.json"); len(rows) != len(files) {
		t.Errorf("the table has %d rows, want one for each of %q", len(rows), files)
	}
	for _, row := range rows {
		function, file, want := row[1], row[2], row[3]
		t.Run(file, func(t *testing.T) {
			event, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := decodeEvent(event) // the answer shows whether it is an event
			digest := token.Digest(r.Headers["Authorization"])
			if got := r.RequestContext.Authorizer.Context.HeaderDigest; function != "Authorizer" && got != digest {
				t.Errorf("header_digest is %s, want that of the Authorization header, %s", got, digest)
			}
			content, err := functions[function].Invoke(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct {
				StatusCode int               `json:"statusCode"`
				Body       string            `json:"body"`
				Context    map[string]string `json:"context"`
			}
			if err := json.Unmarshal(content, &answer); err != nil {
				t.Fatal(err)
			}
			got := answer.Context["verdict"]
			if function != "Authorizer" {
				got = fmt.Sprint(answer.StatusCode, " ", answer.Body)
			}
			if got != want {
				t.Errorf("Invoke = %s, want %s", content, want)
			}
		})
	}
}

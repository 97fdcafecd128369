package api

import (
	"bytes"
	"encoding/json/jsontext"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// part is a part of a request, with the most allocations that it may make.
type part struct {
	name        string
	allocations float64
	run         func() ([]byte, error)
	want        string // part of what run returns
}

// parts are the parts of the service's own work on the sample events. The
// stores are in memory.
func parts(t *testing.T) []part {
	t.Helper()
	nowhere := struct{ io.Writer }{io.Discard} // slog does no work for io.Discard itself
	log := slog.New(slog.NewJSONHandler(nowhere, nil))
	clock := func() time.Time { return start }
	create, authorize := sampleEvent(t, "createplant"), sampleEvent(t, "authorizer")
	tokens := new(memory.Tokens)
	r, err := decode(create)
	if err != nil {
		t.Fatal(err)
	}
	digest := token.Digest(strings.TrimPrefix(r.Headers["authorization"], "Bearer "))
	sample := token.Token{ID: "SampleToken0", Digest: digest, Subject: "alice", ExpiresAt: start.Add(time.Hour)}
	if err := tokens.Add(t.Context(), sample); err != nil {
		t.Fatal(err)
	}
	authorizer := &Authorizer{Verify: token.Verifier{Store: tokens, Now: clock}.Verify, Log: log, Now: clock}
	createPlant := &Service{Plants: new(memory.Plants), Log: log, Now: clock}
	mistyped := bytes.Replace(authorize, []byte("SampleToken"), []byte("SimpleToken"), 1)
	body := []byte(`{"id":1,"name":"Monstera","tag":"indoor"}`)
	return []part{
		{"decode", 17, func() ([]byte, error) { _, err := decode(create); return nil, err }, ""},
		{"validate", 9, func() ([]byte, error) { _, err := plant.Decode(body); return nil, err }, ""},
		{"create plant", 51, func() ([]byte, error) { return createPlant.Invoke(t.Context(), create) }, "Monstera"},
		{"authorize", 36, func() ([]byte, error) { return authorizer.Invoke(t.Context(), authorize) }, "allow"},
		{"authorize, wrong checksum", 32, func() ([]byte, error) { return authorizer.Invoke(t.Context(), mistyped) }, "deny"},
	}
}

// sampleEvent returns a sample event, as compact as API Gateway sends it.
func sampleEvent(t *testing.T, function string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../events/" + function + "/create.json")
	if err != nil {
		t.Fatal(err)
	}
	event := jsontext.Value(content)
	if err := event.Compact(); err != nil {
		t.Fatal(err)
	}
	return event
}

// The number of allocations is the same on every machine. `make test` runs this
// by itself, because the race detector allocates too.
func TestAllocations(t *testing.T) {
	if os.Getenv("ALLOCATIONS") == "" {
		t.Skip("skipped: `make test` runs this without the race detector")
	}
	for _, o := range parts(t) {
		if out, err := o.run(); err != nil || !bytes.Contains(out, []byte(o.want)) {
			t.Errorf("%s = %s, %v, want %s in it", o.name, out, err, o.want)
		}
		if got := testing.AllocsPerRun(100, func() { _, _ = o.run() }); got > o.allocations {
			t.Errorf("%s: %v allocations, want at most %v", o.name, got, o.allocations)
		}
	}
}

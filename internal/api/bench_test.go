package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// operation is a part of a request, with the most allocations that it may make.
type operation struct {
	name        string
	allocations float64
	run         func() error
}

// operations are all parts of the service's own work on the sample events; the
// stores are in memory, and the log is written to nowhere.
func operations(t testing.TB) []operation {
	t.Helper()
	log := slog.New(slog.NewJSONHandler(new(nowhere), nil))
	clock := func() time.Time { return now }
	tokens := new(memory.TokenStore)
	secret := "pst_SampleTokenOfTheEventsFolder001Havmq" // of the sample events
	sample := token.Token{Digest: token.Digest(secret), ID: "SampleToken0", Subject: "gardener", ExpiresAt: now.Add(time.Hour)}
	if err := tokens.Add(t.Context(), sample); err != nil {
		t.Fatal(err)
	}
	authorizer := &Authorizer{Tokens: token.Verifier{Store: tokens, Now: clock}, Log: log, Now: clock}
	createPlant := &CreatePlant{Plants: new(memory.PlantStore), Log: log, Now: clock, NewKey: func() string { return "the same" }}
	create, authorize := sampleEvent(t, "createplant"), sampleEvent(t, "authorizer")
	mistyped := bytes.Replace(authorize, []byte("001Havmq"), []byte("002Havmq"), 1)
	body := []byte(`{"id":1,"name":"Monstera","tag":"indoor"}`)
	invoke := func(f func() ([]byte, error), want string) func() error {
		answer, err := f()
		if err != nil || !bytes.Contains(answer, []byte(want)) {
			t.Fatalf("Invoke = %s, %v, want %s in it", answer, err, want)
		}
		return func() error { _, err := f(); return err }
	}
	return []operation{
		{"decode", 4, func() error { return new(request).decode(create) }},
		{"validate", 9, func() error { _, err := plant.Decode(body); return err }},
		{"create plant", 29, invoke(func() ([]byte, error) { return createPlant.Invoke(t.Context(), create) }, "Monstera")},
		{"authorize", 16, invoke(func() ([]byte, error) { return authorizer.Invoke(t.Context(), authorize) }, "allow")},
		{"authorize, wrong checksum", 13, invoke(func() ([]byte, error) { return authorizer.Invoke(t.Context(), mistyped) }, "deny")},
	}
}

// sampleEvent returns a sample event, as compact as API Gateway sends it.
func sampleEvent(t testing.TB, function string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../events/" + function + "/create.json")
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}

// nowhere is a writer that io.Discard is not: slog knows that one, and does no
// work for it.
type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkOperations(b *testing.B) {
	for _, o := range operations(b) {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := o.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Allocations do not vary from machine to machine, so they can be held. `make
// test` runs this by itself: the race detector allocates too.
func TestAllocations(t *testing.T) {
	if os.Getenv("ALLOCATIONS") == "" {
		t.Skip("skipped: `make test` runs this without the race detector")
	}
	for _, o := range operations(t) {
		if got := testing.AllocsPerRun(100, func() { _ = o.run() }); got > o.allocations {
			t.Errorf("%s: %v allocations, want at most %v", o.name, got, o.allocations)
		}
	}
}

package main

import (
	"testing"
	"time"

	"plantstore/internal/token"
)

// A server in memory accepts the token of an earlier run.
func TestServeToken(t *testing.T) {
	t.Parallel()
	_, _, earlier, err := new(serveCommand).memoryStores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, tokens, bearer, err := (&serveCommand{ServeToken: earlier}).memoryStores(t.Context())
	if err != nil || bearer != earlier {
		t.Fatalf("memoryStores = the token %q, %v, want %q", bearer, err, earlier)
	}
	if _, err := (token.Verifier{Store: tokens, Now: time.Now}).Verify(t.Context(), earlier); err != nil {
		t.Errorf("Verify(%q) = %v, want that it is valid", earlier, err)
	}
}

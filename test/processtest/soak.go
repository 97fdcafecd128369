// Package soak lets a test do much where there is time for it, and repeat what it
// did by chance.
package processtest

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// Scale returns how often to do what a test repeats: full in `make soak`, short
// otherwise.
func Scale(short, full int) int {
	if os.Getenv("SOAK") != "" {
		return full
	}
	return short
}

// Seed returns a seed for the randomness of a test: the one that SEED holds, or
// a new one. A test that fails prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	value := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		if _, err := fmt.Sscan(text, &value); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with SEED=%d", value)
		}
	})
	return value
}

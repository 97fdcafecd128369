package processtest

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// Scale returns how often a test repeats what it does: full in `make soak`, or
// else short.
func Scale(short, full int) int {
	if os.Getenv("SOAK") != "" {
		return full
	}
	return short
}

// Seed returns a seed for a test's random numbers: the value of SEED, or a new
// one. A test that fails prints it.
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

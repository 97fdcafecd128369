package memory_test

import (
	"testing"

	"plantstore/internal/memory"
	"plantstore/test/storetest"
)

func TestPlants(t *testing.T) { storetest.TestPlants(t, new(memory.Plants)) }

// A store that is wrong for a moment is wrong in one of many tries.
func TestConcurrentRequests(t *testing.T) {
	for range 3000 {
		storetest.TestConcurrentRequests(t, new(memory.Plants))
	}
}

func TestTokens(t *testing.T) { storetest.TestTokens(t, new(memory.Tokens)) }

package memory_test

import (
	"testing"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/storetest"
)

func TestPlants(t *testing.T) {
	storetest.TestPlants(t, func(*testing.T) plant.Store { return new(memory.Plants) })
}

func TestTokens(t *testing.T) {
	storetest.TestTokens(t, func(*testing.T) token.Store { return new(memory.Tokens) })
}

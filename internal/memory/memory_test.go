package memory_test

import (
	"testing"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/plant/planttest"
	"plantstore/internal/token"
	"plantstore/internal/token/tokentest"
)

func TestPlantStore(t *testing.T) {
	planttest.Run(t, func(*testing.T) plant.Store { return new(memory.PlantStore) })
}

func TestTokenStore(t *testing.T) {
	tokentest.Run(t, func(*testing.T) token.Store { return new(memory.TokenStore) })
}

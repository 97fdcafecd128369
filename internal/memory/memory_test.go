package memory_test

import (
	"testing"

	"plantstore/internal/memory"
	"plantstore/test/storetest"
)

func TestPlants(t *testing.T) { storetest.TestPlants(t, new(memory.Plants), 20_000) }

package memory_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/test/storetest"
)

func TestPlants(t *testing.T) { storetest.TestPlants(t, new(memory.Plants)) }

// Of several requests for one id at once, one succeeds. A store that is wrong for a moment is wrong in one
// of many tries.
func TestConcurrentRequests(t *testing.T) {
	for range 3000 {
		var store memory.Plants
		var succeeded atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if err := store.Create(t.Context(), plant.Write{Key: fmt.Sprint(i)}); err == nil {
					succeeded.Add(1)
				}
			})
		}
		group.Wait()
		if got := succeeded.Load(); got != 1 {
			t.Fatalf("%d of 8 requests succeeded, want 1", got)
		}
	}
}

func TestTokens(t *testing.T) { storetest.TestTokens(t, new(memory.Tokens)) }

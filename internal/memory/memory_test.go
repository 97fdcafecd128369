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

// Four requests for one id are each sent twice, all at once. One request succeeds, both times. The test repeats
// this, because a store with a race fails only sometimes.
func TestConcurrentRequests(t *testing.T) {
	for range 3000 {
		var store memory.Plants
		var succeeded atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if err := store.Create(t.Context(), plant.Write{WriteKey: fmt.Sprint(i % 4)}); err == nil {
					succeeded.Add(1)
				}
			})
		}
		group.Wait()
		if got := succeeded.Load(); got != 2 {
			t.Fatalf("%d of 8 writes succeeded, want the two of one request", got)
		}
	}
}

func TestTokens(t *testing.T) { storetest.TestTokens(t, new(memory.Tokens)) }

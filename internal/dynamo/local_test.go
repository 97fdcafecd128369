package dynamo_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/storetest"
)

// The tests of this file need DynamoDB Local.

func TestPlants(t *testing.T) {
	t.Parallel()
	client, plants, _ := dynamotest.NewTables(t)
	storetest.TestPlants(t, &dynamo.Plants{Client: client, Table: plants}, 20)
}

// A token that is revoked stays so, whatever Add does meanwhile or later.
func TestRevoke(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	client, _, table := dynamotest.NewTables(t)
	store := &dynamo.Tokens{Client: client, Table: table}
	issued := token.Token{
		ID: "i", Digest: "d", Subject: "alice", CreatedAt: time.Unix(1e9, 0).UTC(), ExpiresAt: time.Unix(2e9, 0).UTC(),
	}
	another, racing := issued, issued
	another.Digest, racing.ID = "e", "r"
	expect := func(want token.Token) {
		t.Helper()
		if got, err := store.Find(ctx, want.ID); err != nil || got != want {
			t.Errorf("Find = %+v, %v, want %+v", got, err, want)
		}
	}

	got := fmt.Sprint(store.Revoke(ctx, "i"), ", ", store.Add(ctx, issued), ", ", store.Add(ctx, issued), ", ", store.Add(ctx, another))
	if want := "token: not found, <nil>, <nil>, dynamo: another token has this id"; got != want {
		t.Errorf("Revoke, Add, Add, Add of another = %s, want %s", got, want)
	}
	expect(issued)
	if got := fmt.Sprint(store.Revoke(ctx, "i"), ", ", store.Add(ctx, issued)); got != "<nil>, <nil>" {
		t.Errorf("Revoke, Add = %s, want <nil>, <nil>", got)
	}
	issued.Revoked = true
	expect(issued)

	var revoked atomic.Bool
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() { _ = store.Add(ctx, racing) }) // the token is found at the end
		group.Go(func() {
			if store.Revoke(ctx, "r") == nil { // or the token is not there yet
				revoked.Store(true)
			}
		})
	}
	group.Wait()
	racing.Revoked = revoked.Load()
	expect(racing)
}

package contract

import (
	"context"
	crand "crypto/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A changedStore is a store of plants, and the ids that it has created. What change does happens to each write.
type changedStore struct {
	memory.Plants
	change  func(*plant.Write) error
	created map[any]bool
}

func (s *changedStore) Create(ctx context.Context, w plant.Write) error {
	if err := s.change(&w); err != nil {
		return err
	}
	err := s.Plants.Create(ctx, w)
	if err == nil {
		s.created[w.NewPlant.ID] = true
	}
	return err
}

// `make contract URL=...` writes one plant for each subject, and fails if it does not get it. These runs are one after the other.
func TestProbe(t *testing.T) {
	store := &changedStore{created: map[any]bool{}}
	tokens := new(memory.Tokens)
	address, _ := inProcess(t, store, tokens)
	changesNothing := func(*plant.Write) error { return nil }
	changesKey := func(w *plant.Write) error { w.Key += "2"; return nil }
	createsNothing := func(*plant.Write) error { return plant.ErrExists }
	const failure = "error 3001: another request has created the plant"
	tests := []struct {
		name    string
		subject string // of the token
		given   string // in SUBJECT
		change  func(*plant.Write) error
		plants  int // in the store afterwards
		prints  string
	}{
		{name: "the first run", subject: "ann", given: "ann", change: changesNothing, plants: 1, prints: "PASS"},
		{name: "a second run with another token", subject: "ann", given: "ann", change: changesNothing, plants: 1, prints: "PASS"},
		{name: "another subject", subject: "bob", given: "bob", change: changesNothing, plants: 2, prints: "PASS"},
		{name: "the subject of somebody else", subject: "bob", given: "ann", change: changesNothing, plants: 2, prints: failure},
		{name: "no SUBJECT", subject: "ann", change: changesNothing, plants: 3, prints: "each token has a plant of its own"},
		{name: "the write key has changed", subject: "ann", given: "ann", change: changesKey, plants: 3, prints: failure},
		{name: "a service that creates nothing", subject: "cid", given: "cid", change: createsNothing, plants: 3, prints: failure},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store.change = test.change
			secret, issued, err := token.Issue(crand.Reader, test.subject, time.Now(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if err := tokens.Add(t.Context(), issued); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract$")
			command.Env = append(os.Environ(), "CONTRACT_URL="+address, "TOKEN="+secret, "SUBJECT="+test.given, "WRITES=")
			out, err := command.CombinedOutput()
			if passes := test.prints != failure; (err == nil) != passes || !strings.Contains(string(out), test.prints) {
				t.Errorf("the run ends with %v and prints %s, want that it passes: %t, and %q", err, out, passes, test.prints)
			}
			if len(store.created) != test.plants {
				t.Errorf("the store has the plants %v, want %d", store.created, test.plants)
			}
		})
	}
}

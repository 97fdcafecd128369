package contract

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// service is a target in process that takes one request at a time, with what a test needs to see
// of its inside.
type service struct {
	contract
	target
	gateway *gateway.Gateway
	plants  *lastPlant
	tokens  *countedTokens
	log     *bytes.Buffer
}

// lastPlant is a store that shows the last plant. Without another store it keeps no plant.
type lastPlant struct {
	plant.Store
	plant plant.NewPlant
}

func (s *lastPlant) Create(ctx context.Context, w plant.Write) error {
	s.plant = w.Plant
	if s.Store == nil {
		return nil
	}
	return s.Store.Create(ctx, w)
}

// countedTokens counts its reads.
type countedTokens struct {
	memory.TokenStore
	reads int
}

func (s *countedTokens) Find(ctx context.Context, digest string) (token.Token, error) {
	s.reads++
	return s.TokenStore.Find(ctx, digest)
}

// newService returns a service with the store for its plants, or nil.
func newService(t testing.TB, store plant.Store) *service {
	t.Helper()
	s := &service{contract: loadContract(t), plants: &lastPlant{Store: store}, tokens: new(countedTokens), log: new(bytes.Buffer)}
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	s.gateway = &gateway.Gateway{
		Authorizer:  &api.Authorizer{Tokens: s.tokens, Log: log, Now: time.Now},
		CreatePlant: &api.CreatePlant{Plants: s.plants, Log: log, Now: time.Now, NewKey: rand.Text},
		Log:         log,
		Now:         time.Now,
		NewID:       rand.Text,
	}
	s.target = target{client: &http.Client{Transport: s}, tokens: issueAll(t, s.tokens)}
	return s
}

// RoundTrip gives a client's request to the gateway.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.log.Reset()
	s.plants.plant, s.tokens.reads = plant.NewPlant{}, 0
	recorder := httptest.NewRecorder()
	s.gateway.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// checkBody sends a body and compares the answer and the plant that reaches the store with the
// judgement of the oracle. It returns the code.
func (s *service) checkBody(t *testing.T, body string) (code int) {
	t.Helper()
	want, wantCode := s.judge([]byte(body))
	header := http.Header{"Authorization": {"Bearer " + s.target.tokens["TOKEN"]}, "Content-Type": {"application/json"}}
	got := s.ask(t, "POST /plants", header, body)
	code, _, members, err := s.outcome(got)
	if err != nil || code != wantCode || !reflect.DeepEqual(s.plants.plant, want) ||
		code == 0 && !reflect.DeepEqual(members, membersOf(want.Plant)) {
		t.Errorf("POST %.5000q = %s, %v, and stores %.300s; want code %d and %.300s",
			body, got, err, text(s.plants.plant), wantCode, text(want))
	}
	return code
}

// membersOf returns the members of the JSON object that p must become.
func membersOf(p plant.Plant) map[string]any {
	if p.Tag == nil {
		return map[string]any{"name": p.Name}
	}
	return map[string]any{"name": p.Name, "tag": *p.Tag}
}

// text writes a plant without pointers.
func text(p plant.NewPlant) string { return fmt.Sprintf("%d %q", p.ID, membersOf(p.Plant)) }

var randomCharacters = regexp.MustCompile(`[0-9a-z]{8,}`)

// holdsPart reports whether eight characters of a secret are in the text, in any case.
func holdsPart(text string, secrets ...string) bool {
	text = strings.ToLower(text)
	for _, part := range randomCharacters.FindAllString(strings.ToLower(strings.Join(secrets, " ")), -1) {
		for ; len(part) >= 8; part = part[1:] {
			if strings.Contains(text, part[:8]) {
				return true
			}
		}
	}
	return false
}

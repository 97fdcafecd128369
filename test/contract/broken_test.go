package contract

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A brokenService is a service in memory of which one part is broken: the function that is set takes its place.
type brokenService struct {
	verify  func(sound token.Verifier, bearer string) (token.Principal, error)
	create  func(sound plant.Store, w plant.Write) error
	receive func(r *http.Request)
	answer  func(request http.Header, answer *httptest.ResponseRecorder)

	tokens memory.Tokens
	plants memory.Plants
}

// Verify implements [token.Verifier].
func (s *brokenService) Verify(ctx context.Context, bearer string) (token.Principal, error) {
	sound := token.StoreVerifier{Store: &s.tokens}
	if s.verify != nil {
		return s.verify(sound, bearer)
	}
	return sound.Verify(ctx, bearer)
}

// Create implements [plant.Store].
func (s *brokenService) Create(ctx context.Context, w plant.Write) error {
	if s.create != nil {
		return s.create(&s.plants, w)
	}
	return s.plants.Create(ctx, w)
}

// handler returns the API of the service.
func (s *brokenService) handler() http.Handler {
	log := slog.New(slog.DiscardHandler)
	sound := gateway.New(gateway.Options{
		Routes:     api.Routes(),
		Authorizer: &api.Authorizer{Verifier: s, Log: log},
		Function:   &api.Service{Plants: s, Log: log, NewKey: rand.Text},
		Log:        log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.receive != nil {
			s.receive(r)
		}
		answer := httptest.NewRecorder()
		sound.ServeHTTP(answer, r)
		if s.answer != nil {
			s.answer(r.Header, answer)
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the run notices what it lacks
	})
}

// A run against a deployment refuses a service that breaks a promise. With WRITES=all, it refuses some more.
func TestBroken(t *testing.T) {
	const retry = "a retry after a lost answer gets the answer again"
	tests := []struct {
		name    string
		service *brokenService
		writes  string // WRITES of the run
		refused string // the case that fails
	}{
		{
			name: "any secret is valid", refused: "a token that nobody issued creates nothing",
			service: &brokenService{verify: func(_ token.Verifier, bearer string) (token.Principal, error) {
				id, ok := token.ParseID(bearer)
				if !ok {
					return token.Principal{}, token.ReasonForm
				}
				return token.Principal{Subject: id, TokenID: id}, nil
			}},
		},
		{
			name: "all tokens have one subject", refused: "subjects do not share keys",
			service: &brokenService{verify: func(sound token.Verifier, bearer string) (token.Principal, error) {
				principal, err := sound.Verify(context.Background(), bearer)
				principal.Subject = "ann"
				return principal, err
			}},
		},
		{
			name: "a retry is another request", refused: retry,
			service: &brokenService{create: func(sound plant.Store, w plant.Write) error {
				w.WriteKey = rand.Text()
				return sound.Create(context.Background(), w)
			}},
		},
		{
			name: "a plant replaces another", refused: retry,
			service: &brokenService{create: func(plant.Store, plant.Write) error { return nil }},
		},
		{
			name: "a retry may have another plant", refused: retry,
			service: &brokenService{create: func(sound plant.Store, w plant.Write) error {
				err := sound.Create(context.Background(), w)
				if errors.Is(err, plant.ErrKeyReused) {
					return nil
				}
				return err
			}},
		},
		{
			name: "a malformed key is taken", refused: "a key with a space",
			service: &brokenService{receive: func(r *http.Request) {
				if strings.Contains(r.Header.Get(idempotencyKey), " ") {
					r.Header.Del(idempotencyKey)
				}
			}},
		},
		{
			name: "an error has no message", refused: retry,
			service: &brokenService{answer: func(_ http.Header, answer *httptest.ResponseRecorder) {
				answer.Body = bytes.NewBuffer(bytes.ReplaceAll(answer.Body.Bytes(), []byte("A plant with this id exists."), nil))
			}},
		},
		{
			name: "an error has another status", refused: retry,
			service: &brokenService{answer: func(_ http.Header, answer *httptest.ResponseRecorder) {
				if answer.Code != http.StatusOK {
					answer.Code = http.StatusInternalServerError
				}
			}},
		},
		{
			name: "an answer is not declared as JSON", refused: retry,
			service: &brokenService{answer: func(_ http.Header, answer *httptest.ResponseRecorder) {
				answer.Header().Set("Content-Type", "text/plain")
			}},
		},
		{
			name: "an answer shows the token", refused: retry,
			service: &brokenService{answer: func(request http.Header, answer *httptest.ResponseRecorder) {
				answer.Header().Set("X-Request", request.Get("Authorization"))
			}},
		},
		{
			name: "a negative id is not stored", refused: "a negative id is stored", writes: "all",
			service: &brokenService{create: func(sound plant.Store, w plant.Write) error {
				if w.NewPlant.ID < 0 {
					return nil
				}
				return sound.Create(context.Background(), w)
			}},
		},
		{
			name: "an id is rounded", refused: "ids that differ in the last digit are two", writes: "all",
			service: &brokenService{create: func(sound plant.Store, w plant.Write) error {
				w.NewPlant.ID = int64(float32(w.NewPlant.ID)) // a float64 may keep the last digit
				return sound.Create(context.Background(), w)
			}},
		},
		{
			name: "an empty text is lost", refused: "each text empty", writes: "all",
			service: &brokenService{answer: func(_ http.Header, answer *httptest.ResponseRecorder) {
				answer.Body = bytes.NewBuffer(bytes.ReplaceAll(answer.Body.Bytes(), []byte(`""`), []byte("null")))
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.service.handler())
			t.Cleanup(server.Close)
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract$")
			run.Env = append(os.Environ(), "CONTRACT_URL="+server.URL, "TOKEN="+issue(t, &test.service.tokens, "ann"),
				"OTHER_TOKEN="+issue(t, &test.service.tokens, "bob"), "SUBJECT=ann", "WRITES="+test.writes)
			out, err := run.CombinedOutput()
			failure := "--- FAIL: TestContract/" + strings.ReplaceAll(test.refused, " ", "_") + " "
			if err == nil || !strings.Contains(string(out), failure) {
				t.Errorf("the run ends with %v and prints %s, want %q", err, out, failure)
			}
		})
	}
}

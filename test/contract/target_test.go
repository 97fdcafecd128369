package contract

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
)

// A target is a service to check.
type target struct {
	name  string
	url   string
	token string
	other string // a token of another subject, or empty
	only  int64  // the one plant that may be written; 0 if all may
}

// targets returns the deployment that the environment names, or else a service in memory, and one on DynamoDB Local
// if that runs.
func targets(t *testing.T) []target {
	t.Helper()
	if os.Getenv("CONTRACT_URL") != "" {
		return []target{deployed(t)}
	}
	inMemory := newService(t).target(t, "memory")
	if os.Getenv("AWS_ENDPOINT_URL_DYNAMODB") == "" && os.Getenv("CI") != "true" {
		return []target{inMemory}
	}
	client, plants, tokens := dynamotest.NewTables(t)
	onDynamoDB := start(t, &dynamo.Plants{Client: client, Table: plants}, &dynamo.Tokens{Client: client, Table: tokens})
	return []target{inMemory, onDynamoDB.target(t, "DynamoDB Local")}
}

// deployed returns the deployment that the environment names.
func deployed(t *testing.T) target {
	t.Helper()
	u, err := url.Parse(os.Getenv("CONTRACT_URL"))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		t.Fatal("URL is not an https or http URL")
	}
	d := target{name: "deployment", url: strings.TrimSuffix(u.String(), "/"), token: os.Getenv("TOKEN"), other: os.Getenv("OTHER_TOKEN")}
	if d.token == "" || os.Getenv("SUBJECT") == "" {
		t.Fatal("TOKEN or SUBJECT is not set: export TOKEN=..., then make contract URL=... SUBJECT=...")
	}
	if os.Getenv("WRITES") != "all" {
		d.only = probeID(os.Getenv("SUBJECT"))
	}
	return d
}

// probeID returns the one plant that all runs for a subject write.
func probeID(subject string) int64 {
	sum := sha256.Sum256([]byte("contract-probe of " + subject))
	return 1<<62 + int64(binary.BigEndian.Uint64(sum[:])>>2) //nolint:gosec // it has 62 bits
}

// forged returns a token with the id of another, which nobody issued.
func forged(bearer string) string {
	id, _ := token.ParseID(bearer) // what is no token of the service is not forged as one
	return "pst_" + id + "NotSecretInThisFolder0000"
}

// A service is the API in this process.
type service struct {
	url     string
	tokens  token.Store
	plants  plant.Store
	written map[int64]bool
}

// Create implements [plant.Store].
func (s *service) Create(ctx context.Context, w plant.Write) error {
	err := s.plants.Create(ctx, w)
	if err == nil {
		s.written[w.NewPlant.ID] = true
	}
	return err
}

// newService starts a service with empty stores in memory.
func newService(t *testing.T) *service {
	t.Helper()
	return start(t, new(memory.Plants), new(memory.Tokens))
}

func start(t *testing.T, plants plant.Store, tokens token.Store) *service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &service{tokens: tokens, plants: plants, written: map[int64]bool{}}
	server := httptest.NewServer(&gateway.Gateway{
		Authorizer: &api.Authorizer{Tokens: tokens, Log: log},
		Routes:     map[string]lambda.Handler{"POST /plants": &api.CreatePlant{Plants: s, Log: log, NewKey: rand.Text}},
		Log:        log,
	})
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// target returns the service with a token of each of two subjects.
func (s *service) target(t *testing.T, name string) target {
	t.Helper()
	return target{name: name, url: s.url, token: issue(t, s.tokens, "alice"), other: issue(t, s.tokens, "bob")}
}

// issue adds a token of a subject to a store, and returns it.
func issue(t *testing.T, store token.Store, subject string) string {
	t.Helper()
	bearer, issued, err := token.Issue(subject, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return bearer
}

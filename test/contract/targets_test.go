package contract

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// A target is a service to check.
type target struct {
	url   string
	token string
	other string // a token of another subject, or empty
	only  int64  // the one plant that may be written; 0 if all may
}

// forged returns a token with the id or the claims of another, which nobody issued.
func forged(bearer string) string {
	if id, isOpaque := token.ParseID(bearer); isOpaque {
		return token.Bearer(id, strings.Repeat("0", 24))
	}
	signed := bearer[:strings.LastIndex(bearer, ".")+1]
	return signed + strings.Repeat("A", len(bearer)-len(signed))
}

// probeID returns the one plant that all runs for a subject write.
func probeID(subject string) int64 {
	sum := sha256.Sum256([]byte("contract-probe of " + subject))
	return 1<<62 + int64(binary.BigEndian.Uint64(sum[:])>>2) //nolint:gosec // it has 62 bits
}

// An answer is what a target answers to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s %v", a.status, a.body, a.header) }

// send sends the request of a step, with texts in place of $1 and so on. No answer ends the test.
func (target target) send(t *testing.T, s step, texts *strings.Replacer) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	body := strings.NewReader(texts.Replace(s.body))
	request, err := http.NewRequestWithContext(ctx, s.method, target.url+texts.Replace(s.path), body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range s.header {
		for _, value := range values {
			request.Header.Add(name, texts.Replace(value))
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request) // which follows no redirect
	if err != nil {
		t.Fatalf("no answer, so that the test ends here: %v", err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: content}
}

// newTarget returns the deployment that the environment names, or else a service with nothing in it.
func newTarget(t *testing.T) target {
	t.Helper()
	address := strings.TrimSuffix(os.Getenv("CONTRACT_URL"), "/")
	if address == "" {
		s := serve(t)
		return target{url: s.url, token: issue(t, s.tokens, "alice"), other: issue(t, s.tokens, "bob")}
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		t.Fatal("URL is not an https or http URL")
	}
	found := target{url: address, token: os.Getenv("TOKEN"), other: os.Getenv("OTHER_TOKEN")}
	if found.token == "" {
		t.Fatal("TOKEN is not set: export TOKEN=..., then make contract URL=...")
	}
	switch os.Getenv("WRITES") {
	case "all":
		return found
	case "":
	default:
		t.Fatal("WRITES is neither all nor empty")
	}
	subject := os.Getenv("SUBJECT")
	if subject == "" {
		fmt.Println("SUBJECT is not set, so each token has a plant of its own; with the token's subject there, each subject has one")
		subject = found.token
	}
	found.only = probeID(subject)
	return found
}

// A service is `plantstore serve` on DynamoDB Local.
type service struct {
	url      string
	database *dynamodb.Client
	plants   string // the name of their table
	tokens   *dynamo.Tokens
}

// serve starts a service without tokens and plants.
func serve(t *testing.T) service {
	t.Helper()
	database, plants, tokens := dynamotest.NewTables(t)
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"),
		"AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	return service{
		url:      server.URL,
		database: database,
		plants:   plants,
		tokens:   &dynamo.Tokens{Client: database, Table: tokens},
	}
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

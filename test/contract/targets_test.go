package contract

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

// A target is a service to check.
type target struct {
	url    string
	tokens map[string]string // TOKEN and, if it is not a deployment, OTHER_TOKEN, EXPIRED_TOKEN and REVOKED_TOKEN
	only   int64             // the one plant that may be written; 0 if all may
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

// fill returns s with the id of this number, the next id and the target's tokens in the places of $1,
// $2, $TOKEN and so on.
func (target target) fill(t *testing.T, s step, id int64) step {
	t.Helper()
	unknown, _, err := token.Issue(crand.Reader, "nobody", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	replacements := []string{"$1", openapitest.ID(id), "$2", openapitest.ID(id + 1), "$UNKNOWN", unknown}
	for name, secret := range target.tokens {
		replacements = append(replacements, "$"+name, secret)
	}
	replacer := strings.NewReplacer(replacements...)
	header := http.Header{}
	for name, values := range s.header {
		for _, value := range values {
			header.Add(name, replacer.Replace(value))
		}
	}
	s.header = header
	s.path = replacer.Replace(s.path)
	s.body = replacer.Replace(s.body)
	s.want.body = replacer.Replace(s.want.body)
	return s
}

// send sends the request of a step that is filled. No answer ends the test.
func (target target) send(t *testing.T, s step) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, s.method, target.url+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = s.header
	response, err := http.DefaultTransport.RoundTrip(request) // which follows no redirect
	if err != nil {
		t.Fatalf("no answer, so that the test ends here: %v", err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}
}

// fromEnvironment returns the deployment at base.
func fromEnvironment(t *testing.T, base string) target {
	t.Helper()
	secret := os.Getenv("TOKEN")
	if secret == "" {
		t.Fatal("TOKEN is not set: export TOKEN=..., then make contract URL=...")
	}
	found := target{url: base, tokens: map[string]string{"TOKEN": secret}}
	if os.Getenv("WRITES") == "all" {
		return found
	}
	subject := os.Getenv("SUBJECT")
	if subject == "" {
		fmt.Println("SUBJECT is not set, so each token has a plant of its own; with the token's subject there, each subject has one")
		subject = secret
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
	database, plants, tokens := dynamotest.Tables(t)
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	return service{
		url:      server.URL,
		database: database,
		plants:   plants,
		tokens:   &dynamo.Tokens{Client: database, Table: tokens},
	}
}

// issue returns a token that is valid for an hour from at.
func (s service) issue(t *testing.T, subject string, at time.Time) string {
	t.Helper()
	secret, issued, err := token.Issue(crand.Reader, subject, at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.tokens.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return secret
}

// Package dynamotest gives tests the DynamoDB Local that tools/local/dynamodb starts.
package dynamotest

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"plantstore/internal/dynamo"
)

// Endpoint returns the URL of DynamoDB Local. If it is not running, Endpoint skips the test, or fails it with CI=true.
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	if endpoint == "" && os.Getenv("CI") == "true" {
		t.Fatal("there is no DynamoDB Local")
	}
	if endpoint == "" {
		t.Skip("skipped: there is no DynamoDB Local; `make test` starts it with Java 17 or later and npm, or Docker")
	}
	return endpoint
}

// NewTables returns a client of DynamoDB Local, and the names of two empty tables.
func NewTables(t testing.TB) (client *dynamo.Client, plants, tokens string) {
	t.Helper()
	client = dynamo.NewLocalClient(Endpoint(t))
	id := rand.Text()
	plants, tokens = "plants-"+id, "tokens-"+id
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := dynamo.CreateTables(ctx, client, plants, tokens); err != nil {
		t.Fatal(err)
	}
	return client, plants, tokens
}

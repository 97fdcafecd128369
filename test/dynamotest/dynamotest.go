// Package dynamotest gives tests access to the DynamoDB Local that tools/local/dynamodb starts.
package dynamotest

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/test/processtest"
)

// Endpoint returns the URL of DynamoDB Local. If none runs, it skips the test, or fails it with CI=true.
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	if endpoint == "" {
		processtest.SkipWithout(t, "DynamoDB Local; `make test` starts it where there is Java 17 with npm, or Docker")
	}
	return endpoint
}

// NewTables creates two empty tables and deletes them when the test ends. It returns a client and the names
// of the tables.
func NewTables(t testing.TB) (client *dynamodb.Client, plants, tokens string) {
	t.Helper()
	client = dynamo.NewLocalClient(Endpoint(t))
	id := rand.Text()
	plants, tokens = "plants-"+id, "tokens-"+id
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := dynamo.CreateTables(ctx, client, plants, tokens); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, table := range []string{plants, tokens} {
			_, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table})
			if err != nil {
				t.Error(err)
			}
		}
	})
	return client, plants, tokens
}

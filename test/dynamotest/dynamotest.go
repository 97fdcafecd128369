// Package dynamotest gives tests the DynamoDB Local that tools/dynamodb-local
// starts.
package dynamotest

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Endpoint returns the URL of DynamoDB Local. Where none runs it skips the
// test, and with CI=true it fails it.
func Endpoint(t testing.TB) string {
	t.Helper()
	endpoint := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")
	switch {
	case endpoint != "":
	case os.Getenv("CI") == "true":
		t.Fatal("this test needs DynamoDB Local; run it by `make test`")
	default:
		t.Skip("skipped: this test needs DynamoDB Local; `make test` starts it where there is Java 17 with npm, or Docker")
	}
	return endpoint
}

// Client returns a client of the DynamoDB at endpoint. It waits longer for an
// answer than the functions do, as a busy machine slows DynamoDB Local down.
func Client(t testing.TB, endpoint string) *dynamodb.Client {
	t.Helper()
	return dynamo.NewClient(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: &endpoint,
	}, 20*time.Second)
}

// FunctionClient returns a client of the DynamoDB at endpoint as the functions
// have it.
func FunctionClient(endpoint string) *dynamodb.Client {
	return dynamo.NewFunctionClient(dynamo.Config{
		Region:      "us-east-1",
		Credentials: aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"},
		Endpoint:    endpoint,
	})
}

// Tables creates two empty tables, for as long as the test runs, and returns a
// client with their names.
func Tables(t testing.TB) (client *dynamodb.Client, plants, tokens string) {
	t.Helper()
	client = Client(t, Endpoint(t))
	id := rand.Text()
	plants, tokens = "plants-"+id, "tokens-"+id
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := dynamo.CreateTables(ctx, client, plants, tokens); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, table := range []string{plants, tokens} {
			if _, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
				t.Error(err)
			}
		}
	})
	return client, plants, tokens
}

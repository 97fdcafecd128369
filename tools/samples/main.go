// Command samples prepares the DynamoDB Local of `make dynamodb` for `sam local`: it creates both tables, stores the
// token of the sample events in events/, and waits. The token is not secret, because it stands in this repository.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
)

const sampleID = "SampleToken0"

var sampleToken = token.Bearer(sampleID, "NotSecretInThisFolder000")

func main() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	ctx := context.Background()
	client := dynamo.NewClient(aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:   http.DefaultClient,
	})
	// `sam local` calls the tables by their names in template.yaml.
	if err := dynamo.CreateTables(ctx, client, "PlantsTable", "TokensTable"); err != nil {
		log.Fatal(err)
	}
	tokens := &dynamo.Tokens{Client: client, Table: "TokensTable"}
	if err := tokens.Add(ctx, newSample(time.Now())); err != nil {
		log.Fatal(err)
	}
	fmt.Println(`DynamoDB Local is running. Ctrl-C stops it, and discards its data. In a second terminal:

  sam build && sam local start-api

Once SAM prints "Running on", create a plant from a third:

  curl -sS -w '\n' http://127.0.0.1:3000/plants -H 'Authorization: Bearer ` + sampleToken +
		`' -H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'`)
	<-interrupted
}

func newSample(now time.Time) token.Token {
	now = now.UTC().Truncate(time.Second)
	return token.Token{
		ID: sampleID, Digest: token.Digest(sampleToken), Subject: "alice", CreatedAt: now, ExpiresAt: now.AddDate(0, 1, 0),
	}
}

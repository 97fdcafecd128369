// Command samples prepares a local DynamoDB for the sample events in events/ and
// for `sam local start-api`: it creates both tables, stores what the events need,
// issues another token, and prints a curl line with that one.
//
// It is for a local DynamoDB alone: the token of the events stands in this
// repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

const sampleID = "SampleToken0"

// sampleToken is the token of the sample events.
var sampleToken = token.Bearer(sampleID, "NotSecretInThisFolder000")

const (
	next = `DynamoDB Local is running, with the tables plants and tokens. Ctrl-C stops it
and discards its data.

In another terminal:

  sam build
  sam local start-api

`
	greeting = `Once SAM prints "Running on", create a plant:

  curl -sS --noproxy '*' -w '\n' http://127.0.0.1:%d/plants -H 'Authorization: Bearer %s' ` +
		`-H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`
)

func main() {
	port := flag.Int("port", 3000, "port of sam local start-api, for the curl line")
	wait := flag.Bool("wait", false, "wait for an interrupt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	secret, err := run(ctx, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "samples:", err)
		os.Exit(1)
	}
	if *wait {
		fmt.Print(next)
	}
	fmt.Printf(greeting, *port, secret)
	if *wait {
		<-ctx.Done()
	}
}

// run prepares the DynamoDB at endpoint, and returns a token.
func run(ctx context.Context, endpoint string) (secret string, err error) {
	if endpoint == "" {
		return "", errors.New("AWS_ENDPOINT_URL_DYNAMODB is not set; `make dynamodb` sets it")
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	client := dynamo.NewClient(aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, 10*time.Second)
	if err := dynamo.CreateTables(ctx, client, dynamo.LocalPlantsTable, dynamo.LocalTokensTable); err != nil {
		return "", err
	}
	tokens := &dynamo.Tokens{Client: client, Table: dynamo.LocalTokensTable}
	if err := seed(ctx, tokens, &dynamo.Plants{Client: client, Table: dynamo.LocalPlantsTable}, time.Now()); err != nil {
		return "", err
	}
	secret, issued, err := token.Issue("developer", time.Now(), 30*24*time.Hour)
	if err != nil {
		return "", err
	}
	return secret, tokens.Add(ctx, issued)
}

// seed stores the token of the sample events, and the plant of events/createplant/duplicate.json.
func seed(ctx context.Context, tokens token.Store, plants plant.Store, now time.Time) error {
	fern := plant.NewPlant{ID: 2, Plant: plant.Plant{Name: "Fern"}}
	if err := plants.Create(ctx, plant.Write{NewPlant: fern, WriteKey: plant.NewWriteKey("samples", "seed"), Subject: "samples", Time: now}); err != nil {
		return err
	}
	return tokens.Add(ctx, token.Token{
		ID:        sampleID,
		Digest:    token.Digest(sampleToken),
		Subject:   "alice",
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Truncate(time.Second).Add(24 * time.Hour),
	})
}

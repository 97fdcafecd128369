// Command events makes a local DynamoDB such that each sample event in this
// folder gives the answer that README.md states: it creates both tables, stores
// the token that the events carry, and the plant whose id the duplicate has.
//
// It is for a local DynamoDB alone: the token stands in this repository.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// Tables that `sam local` gives the functions: it resolves a reference to a
// table to its logical id in template.yaml.
const (
	plantsTable = "PlantsTable"
	tokensTable = "TokensTable"
)

//go:embed createplant authorizer
var files embed.FS

func main() {
	if err := run(context.Background(), os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, endpoint string) error {
	if endpoint == "" {
		return errors.New("AWS_ENDPOINT_URL_DYNAMODB is not set; `make invoke` sets it")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client := dynamo.NewClient(aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	if err := dynamo.CreateTables(ctx, client, plantsTable, tokensTable); err != nil {
		return err
	}
	return seed(ctx,
		&dynamo.PlantStore{Client: client, Table: plantsTable},
		&dynamo.TokenStore{Client: client, Table: tokensTable},
		time.Now())
}

// seed stores what the events need to be there.
func seed(ctx context.Context, plants plant.Store, tokens token.Store, now time.Time) error {
	valid, err := read("createplant/create.json")
	if err != nil {
		return err
	}
	verdict := valid.RequestContext.Authorizer.Lambda
	sample := token.Token{
		Digest:    token.Digest(strings.TrimPrefix(valid.Headers["authorization"], "Bearer ")),
		ID:        fmt.Sprint(verdict["token_id"]),
		Subject:   fmt.Sprint(verdict["subject"]),
		CreatedAt: now.UTC().Truncate(time.Second),
		ExpiresAt: now.UTC().Truncate(time.Second).Add(24 * time.Hour),
	}
	if err := tokens.Add(ctx, sample); err != nil {
		return err
	}
	duplicate, err := read("createplant/duplicate.json")
	if err != nil {
		return err
	}
	p, err := plant.Decode([]byte(duplicate.Body))
	if err != nil {
		return err
	}
	return plants.Create(ctx, plant.Write{
		Plant: p,
		Key:   plant.NewWriteKey(sample.Subject, "seeded"),
		By:    sample.Subject,
		At:    now,
	})
}

func read(name string) (event events.APIGatewayV2HTTPRequest, err error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return event, err
	}
	return event, json.Unmarshal(content, &event)
}

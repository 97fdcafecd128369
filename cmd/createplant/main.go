// Command createplant is the Lambda function behind POST /plants.
//
// It reads PLANTS_TABLE, and of AWS's own variables AWS_REGION, the keys and,
// for a DynamoDB that is not AWS's, AWS_ENDPOINT_URL_DYNAMODB or
// AWS_ENDPOINT_URL.
package main

import (
	"crypto/rand"
	"log/slog"
	"os"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	handler, err := newHandler(os.Getenv, log)
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handler)
}

func newHandler(getenv func(string) string, log *slog.Logger) (*api.CreatePlant, error) {
	client, table, err := dynamo.FromEnvironment(getenv, "PLANTS_TABLE")
	if err != nil {
		return nil, err
	}
	dynamo.Connect(client)
	return &api.CreatePlant{
		Plants: &dynamo.PlantStore{Client: client, Table: table},
		Log:    log,
		Now:    time.Now,
		NewKey: rand.Text,
	}, nil
}

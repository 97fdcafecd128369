// Command authorizer is the Lambda authorizer of the HTTP API: it checks the
// bearer token of each request.
//
// It reads TOKENS_TABLE, and of AWS's own variables AWS_REGION, the keys and,
// for a DynamoDB that is not AWS's, AWS_ENDPOINT_URL_DYNAMODB or
// AWS_ENDPOINT_URL.
package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/environment"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/token"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	env, err := environment.Read(os.Getenv, "TOKENS_TABLE")
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	client := dynamo.NewFunctionClient(env.DynamoDB)
	dynamo.Connect(client)
	lambda.Start(&api.Authorizer{
		Tokens: token.Verifier{Store: &dynamo.TokenStore{Client: client, Table: env.Table}, Now: time.Now},
		Log:    log,
		Now:    time.Now,
	})
}

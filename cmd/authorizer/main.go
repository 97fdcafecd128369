// Command authorizer is the Lambda authorizer of the HTTP API: it checks the
// bearer token of each request.
// It reads TOKENS_TABLE and the variables in package environment.
package main

import (
	"io"
	standardlog "log"
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
	standardlog.SetOutput(io.Discard) // net/http logs answers that it did not ask for, with their bodies
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	table, config, err := environment.Read(os.Getenv, "TOKENS_TABLE")
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	client := dynamo.NewFunctionClient(config, log)
	dynamo.Connect(client)
	lambda.Start(&api.Authorizer{
		Tokens: token.Verifier{Store: &dynamo.TokenStore{Client: client, Table: table}, Now: time.Now},
		Log:    log,
		Now:    time.Now,
	})
}

// Command authorizer is the Lambda authorizer of the API.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/tokens"
)

func main() {
	slog.SetDefault(lambdacontext.NewLogger())
	client, table, err := dynamo.Open(context.Background(), "TOKENS_TABLE")
	if err != nil {
		slog.Error("the function cannot start", "cause", err.Error()) // log.Fatal would log it as INFO
		os.Exit(1)
	}
	lambda.Start(api.Authorizer{Tokens: tokens.Table{Client: client, Name: table}})
}

package api

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Start runs a Lambda function that works on one DynamoDB table, whose name is in an environment variable.
func Start(tableVariable string, newHandler func(client *dynamodb.Client, table string) lambda.Handler) {
	slog.SetDefault(lambdacontext.NewLogger())
	client, table, err := dynamo.Open(context.Background(), tableVariable)
	if err != nil {
		slog.Error("the function cannot start", "cause", err.Error()) // log.Fatal would log it as INFO
		os.Exit(1)
	}
	lambda.Start(newHandler(client, table))
}

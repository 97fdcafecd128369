package api

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Init sets up the log of a Lambda function, and returns what it works on: a client that has connected to DynamoDB, and the
// table whose name is in an environment variable. If it fails, it logs why and ends the program.
func Init(tableVariable string) (client *dynamodb.Client, table string) {
	slog.SetDefault(lambdacontext.NewLogger())
	client, table, err := dynamo.Open(context.Background(), tableVariable)
	if err != nil {
		slog.Error("the function cannot start", "cause", err.Error()) // log.Fatal would log it as INFO
		os.Exit(1)
	}
	return client, table
}

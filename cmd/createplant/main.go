// Command createplant is the Lambda function behind POST /plants.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"plantstore/internal/dynamo"
	"plantstore/internal/plants"
)

func main() {
	slog.SetDefault(lambdacontext.NewLogger())
	client, table, err := dynamo.Open(context.Background(), "PLANTS_TABLE")
	if err != nil {
		slog.Error("the function cannot start", "cause", err.Error()) // log.Fatal would log it as INFO
		os.Exit(1)
	}
	lambda.Start(plants.Create(plants.Table{Client: client, Name: table}))
}

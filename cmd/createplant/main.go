// Command createplant is the Lambda function behind POST /plants. It needs the environment variable PLANTS_TABLE
// and those that package function reads.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	client, table, logger := function.Setup("PLANTS_TABLE")
	lambda.Start(&api.CreatePlant{Plants: &dynamo.Plants{Client: client, Table: table}, Log: logger})
}

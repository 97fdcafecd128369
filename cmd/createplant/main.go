// Command createplant is the Lambda function behind POST /plants. It reads PLANTS_TABLE and the variables in package
// function.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	log := function.NewLog()
	client, table, err := function.Open("PLANTS_TABLE")
	if err != nil {
		log.Error("cannot run", "error", err.Error())
		os.Exit(1)
	}
	plants := &dynamo.Plants{Client: client, Table: table}
	lambda.Start(&api.CreatePlant{Plants: plants, Log: log})
}

// Command createplant is the Lambda function behind POST /plants.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/plants"
)

func main() {
	client, table := api.Init("PLANTS_TABLE")
	lambda.Start(plants.Create(plants.Table{Client: client, Name: table}))
}

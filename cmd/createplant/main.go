// Command createplant is the Lambda function behind POST /plants.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/api"
	"plantstore/internal/plants"
)

func main() {
	api.Start("PLANTS_TABLE", func(client *dynamodb.Client, table string) lambda.Handler {
		return plants.Create(plants.Table{Client: client, Name: table})
	})
}

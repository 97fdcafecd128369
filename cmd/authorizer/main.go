// Command authorizer is the Lambda authorizer of the API.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/tokens"
)

func main() {
	client, table := api.Init("TOKENS_TABLE")
	lambda.Start(api.Authorizer{Tokens: tokens.Table{Client: client, Name: table}})
}

// Command authorizer is the Lambda authorizer of the API.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/api"
	"plantstore/internal/tokens"
)

func main() {
	api.Start("TOKENS_TABLE", func(client *dynamodb.Client, table string) lambda.Handler {
		return api.Authorizer{Tokens: tokens.Table{Client: client, Name: table}}
	})
}

// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE and the variables in package
// function.
package main

import (
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	function.Run("TOKENS_TABLE", func(client *dynamodb.Client, table string, log *slog.Logger) lambda.Handler {
		return &api.Authorizer{Tokens: &dynamo.Tokens{Client: client, Table: table}, Log: log}
	})
}

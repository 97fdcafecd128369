// Command authorizer is the Lambda authorizer of the HTTP API. It needs the environment variable TOKENS_TABLE and
// those that package function reads.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	client, table, logger := function.Setup("TOKENS_TABLE")
	lambda.Start(&api.Authorizer{Tokens: &dynamo.Tokens{Client: client, Table: table}, Log: logger})
}

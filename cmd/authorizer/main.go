// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE and the variables in package
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
	client, table, err := function.Open("TOKENS_TABLE")
	if err != nil {
		log.Error("cannot run", "error", err.Error())
		os.Exit(1)
	}
	tokens := &dynamo.Tokens{Client: client, Table: table}
	lambda.Start(&api.Authorizer{Tokens: tokens, Log: log})
}

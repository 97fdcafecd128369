// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE and the variables in
// package coldstart.
package main

import (
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/coldstart"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/token"
)

func main() {
	resources, err := coldstart.Open("TOKENS_TABLE")
	if err != nil {
		log.Fatal(err)
	}
	tokens := &dynamo.Tokens{Client: resources.Client, Table: resources.Table}
	lambda.Start(&api.Authorizer{Verifier: token.StoreVerifier{Store: tokens}, Log: resources.Log})
}

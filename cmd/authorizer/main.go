// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE and the variables in
// package coldstart.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/coldstart"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/jwt"
	"plantstore/internal/token"
)

func main() {
	resources, err := coldstart.Open("TOKENS_TABLE")
	if err != nil {
		log.Fatal(err)
	}
	tokens := &dynamo.Tokens{Client: resources.Client, Table: resources.Table}
	var verifier token.Verifier = token.StoreVerifier{Store: tokens}

	// Without an issuer and an audience, AddIssuer returns verifier itself.
	verifier, err = jwt.AddIssuer(verifier, os.Getenv("TOKEN_ISSUER"), os.Getenv("TOKEN_AUDIENCE"))
	if err != nil {
		log.Fatalf("TOKEN_ISSUER and TOKEN_AUDIENCE: %v", err)
	}

	lambda.Start(&api.Authorizer{Verifier: verifier, Log: resources.Log})
}

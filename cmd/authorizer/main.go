// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE, TOKEN_ISSUER,
// TOKEN_AUDIENCE and the variables in package coldstart.
package main

import (
	"log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/coldstart"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/jwt"
	"plantstore/internal/token"
)

func main() {
	function, err := coldstart.Open("TOKENS_TABLE")
	if err != nil {
		log.Fatal(err)
	}
	tokens := &dynamo.Tokens{Client: function.Client, Table: function.Table}
	verifier := token.Verifier{Store: tokens, Now: time.Now}
	issuer, audience := os.Getenv("TOKEN_ISSUER"), os.Getenv("TOKEN_AUDIENCE")
	if issuer != "" || audience != "" {
		verifier.JWTs, err = jwt.New(issuer, audience, time.Now)
		if err != nil {
			log.Fatal("TOKEN_ISSUER and TOKEN_AUDIENCE: ", err)
		}
	}
	lambda.Start(&api.Authorizer{Verify: verifier.Verify, Log: function.Log, Now: time.Now})
}

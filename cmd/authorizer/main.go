// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE, TOKEN_ISSUER,
// TOKEN_AUDIENCE and the variables in package function.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/jwt"
	"plantstore/internal/token"
)

func main() {
	os.Exit(function.Run("TOKENS_TABLE", func(parts function.Parts) (lambda.Handler, error) {
		verifier := token.Verifier{Store: &dynamo.Tokens{Client: parts.Client, Table: parts.Table}, Now: time.Now}
		issuer, audience := os.Getenv("TOKEN_ISSUER"), os.Getenv("TOKEN_AUDIENCE")
		if issuer != "" || audience != "" {
			jwts, err := jwt.New(issuer, audience, time.Now)
			if err != nil {
				return nil, fmt.Errorf("TOKEN_ISSUER %w", err)
			}
			verifier.JWTs = jwts
		}
		return &api.Authorizer{
			Verify: verifier.Verify,
			Log:    parts.Log,
			Now:    time.Now,
		}, nil
	}))
}

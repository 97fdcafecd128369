// Command authorizer is the Lambda authorizer of the HTTP API. It reads TOKENS_TABLE, the variables in
// package environment, and BUILD, a name of the deployment for the log, which may be empty.
package main

import (
	"io"
	standardlog "log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/environment"
	"plantstore/cmd/internal/lambdalog"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/jwt"
	"plantstore/internal/token"
)

func main() {
	started := time.Now()
	standardlog.SetOutput(io.Discard) // net/http logs answers that it did not ask for, with their bodies
	log := lambdalog.New(os.Stdout, os.Getenv("BUILD"))
	table, config, err := environment.Read(os.Getenv, "TOKENS_TABLE")
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	issuer, err := jwt.New(os.Getenv("TOKEN_ISSUER"), os.Getenv("TOKEN_AUDIENCE"), time.Now)
	if err != nil {
		log.Error("cannot start", "error", "TOKEN_ISSUER "+err.Error())
		os.Exit(1)
	}
	client := dynamo.NewFunctionClient(config, log)
	dynamo.Connect(client)
	store := &dynamo.TokenStore{Client: client, Table: table}
	lambda.Start(&api.Authorizer{
		Verify: token.Verifier{Store: store, Now: time.Now, Issuer: issuer}.Verify,
		Log:    lambdalog.ForInvocations(log, started),
		Now:    time.Now,
	})
}

// Command createplant is the Lambda function behind POST /plants. It reads PLANTS_TABLE, the variables
// in package environment, and BUILD, a name of the deployment for the log, which may be empty.
package main

import (
	"crypto/rand"
	"io"
	standardlog "log"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/environment"
	"plantstore/cmd/internal/lambdalog"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	started := time.Now()
	standardlog.SetOutput(io.Discard) // net/http logs answers that it did not ask for, with their bodies
	log := lambdalog.New(os.Stdout, os.Getenv("BUILD"))
	table, config, err := environment.Read(os.Getenv, "PLANTS_TABLE")
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	client := dynamo.NewFunctionClient(config, log)
	dynamo.Connect(client)
	lambda.Start(&api.CreatePlant{
		Plants: &dynamo.PlantStore{Client: client, Table: table},
		Log:    lambdalog.ForInvocations(log, started),
		Now:    time.Now,
		NewKey: rand.Text,
	})
}

// Command createplant is the Lambda function behind POST /plants.
// It reads PLANTS_TABLE and the variables in package environment.
package main

import (
	"crypto/rand"
	"io"
	standardlog "log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/environment"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	standardlog.SetOutput(io.Discard) // net/http logs answers that it did not ask for, with their bodies
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	table, config, err := environment.Read(os.Getenv, "PLANTS_TABLE")
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	client := dynamo.NewFunctionClient(config, log)
	dynamo.Connect(client)
	lambda.Start(&api.CreatePlant{
		Plants: &dynamo.PlantStore{Client: client, Table: table},
		Log:    log,
		Now:    time.Now,
		NewKey: rand.Text,
	})
}

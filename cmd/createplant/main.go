// Command createplant is the Lambda function behind POST /plants. It reads PLANTS_TABLE and the
// variables in package coldstart.
package main

import (
	"crypto/rand"
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/coldstart"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	resources, err := coldstart.Open("PLANTS_TABLE")
	if err != nil {
		log.Fatal(err)
	}
	// Start calls Service.Invoke with each event: by this method, a Service is a lambda.Handler.
	lambda.Start(&api.Service{
		Plants: &dynamo.Plants{Client: resources.Client, Table: resources.Table},
		Log:    resources.Log,
		NewKey: rand.Text,
	})
}

// Command createplant is the Lambda function behind POST /plants. It reads PLANTS_TABLE and the
// variables in package function.
package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/cmd/internal/function"
	"plantstore/internal/api"
	"plantstore/internal/dynamo"
)

func main() {
	os.Exit(function.Run("PLANTS_TABLE", func(parts function.Parts) (lambda.Handler, error) {
		return &api.Service{
			Plants: &dynamo.Plants{Client: parts.Client, Table: parts.Table},
			Log:    parts.Log,
			Now:    time.Now,
			NewKey: rand.Text,
		}, nil
	}))
}

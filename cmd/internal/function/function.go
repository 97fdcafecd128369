// Package function starts the Lambda functions: it reads their environment, opens the connection to
// DynamoDB and writes their log lines.
package function

import (
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Parts are what the handler of a function is made of.
type Parts struct {
	Client *dynamodb.Client
	Table  string
	Log    *slog.Logger
}

// Start starts a function with the handler that newHandler returns. The function has one table, whose
// name is in the environment variable tableVariable. If a variable is missing or malformed, or
// newHandler returns an error, Start logs the error and ends the process. BUILD is a name of the
// deployment for the log, which may be empty.
func Start(tableVariable string, newHandler func(Parts) (lambda.Handler, error)) {
	started := time.Now()
	log.SetOutput(io.Discard) // net/http logs answers that it did not ask for, with their bodies
	lines := newLog(os.Stdout, os.Getenv("BUILD"))
	handler, err := assemble(tableVariable, newHandler, lines, started)
	if err != nil {
		lines.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handler)
}

func assemble(
	tableVariable string, newHandler func(Parts) (lambda.Handler, error), lines *slog.Logger, started time.Time,
) (lambda.Handler, error) {
	table, config, err := readEnvironment(os.Getenv, tableVariable)
	if err != nil {
		return nil, err
	}
	client := dynamo.NewFunctionClient(config, lines)
	dynamo.Connect(client)
	return newHandler(Parts{Client: client, Table: table, Log: forInvocations(lines, started)})
}

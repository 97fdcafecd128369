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

// Run runs a function with the handler that newHandler returns. The function has one table, whose name
// is in the environment variable tableVariable. BUILD is a name of the deployment for the log, which may
// be empty. Run returns only if the function cannot start: it logs the error, such as the name of a
// variable that is missing, and returns the exit status.
func Run(tableVariable string, newHandler func(Parts) (lambda.Handler, error)) (status int) {
	started := time.Now()
	log.SetOutput(io.Discard) // net/http logs unsolicited responses, including bodies
	logger := newLog(os.Stdout, os.Getenv("BUILD"))
	handler, err := assemble(tableVariable, newHandler, logger, started)
	if err != nil {
		logger.Error("cannot start", "error", err.Error())
		return 1
	}
	lambda.Start(handler)
	return 0
}

func assemble(
	tableVariable string, newHandler func(Parts) (lambda.Handler, error), logger *slog.Logger, started time.Time,
) (lambda.Handler, error) {
	table, config, err := readEnvironment(os.Getenv, tableVariable)
	if err != nil {
		return nil, err
	}
	client := dynamo.NewFunctionClient(config, logger)
	dynamo.Connect(client)
	return newHandler(Parts{Client: client, Table: table, Log: forInvocations(logger, started)})
}

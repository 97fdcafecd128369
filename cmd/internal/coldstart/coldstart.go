// Package coldstart gives a Lambda function what it needs before its first invocation: the name of its
// table, a connection to DynamoDB and a log.
package coldstart

import (
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Function has the parts of which a main makes the handler of a Lambda function.
type Function struct {
	Client *dynamodb.Client // connected
	Table  string           // name of the function's table
	Log    *slog.Logger
}

// Open opens a function, whose table is named by the environment variable tableVariable. BUILD is a name
// of the deployment for the log, which may be empty. The error names the variable that is missing or
// malformed. Open logs how long it took, and makes package log write fatal errors to the log, and nothing
// else.
func Open(tableVariable string) (Function, error) {
	started := time.Now()
	logger := newLog(os.Stdout, os.Getenv("BUILD"))
	logFatalErrors(logger)
	table, config, err := readEnvironment(os.Getenv, tableVariable)
	if err != nil {
		return Function{}, err
	}
	client := dynamo.NewFunctionClient(config, logger)
	dynamo.Connect(client)
	logger.Info("cold start", "init_ms", time.Since(started).Milliseconds())
	return Function{Client: client, Table: table, Log: logger}, nil
}

// Package coldstart gives a Lambda function what it needs before its first invocation: the name of its
// table, a connection to DynamoDB and a log.
package coldstart

import (
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Function has the parts of which a main makes the handler of a Lambda function.
type Function struct {
	Client *dynamodb.Client // connected
	Table  string           // name of the function's table
	Log    *slog.Logger     // for invocations, see [forInvocations]
}

// Open opens a function, whose table is named by the environment variable tableVariable. BUILD is a name
// of the deployment for the log, which may be empty. The error names the variable that is missing or
// malformed. Open also makes package log write fatal errors to the log, and nothing else.
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
	return Function{Client: client, Table: table, Log: forInvocations(logger, started)}, nil
}

// logFatalErrors makes package log write to logger what a main logs, and what aws-lambda-go's entry.go
// logs before it ends the process. All else is dropped: net/http logs unsolicited responses, including
// their bodies.
func logFatalErrors(logger *slog.Logger) {
	log.SetFlags(log.Lshortfile)
	log.SetOutput(fatalErrors{log: logger})
}

// fatalErrors takes lines of package log that begin with the name of a file.
type fatalErrors struct{ log *slog.Logger }

// Write implements [io.Writer].
func (f fatalErrors) Write(line []byte) (int, error) {
	file, text, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
	file, _, _ = strings.Cut(file, ":") // the number of the line
	if file == "main.go" || file == "entry.go" {
		f.log.Error("cannot run", "error", text)
	}
	return len(line), nil
}

// Package coldstart gives a Lambda function what it needs before its first invocation: a log, the name of its
// table and a connection to DynamoDB.
package coldstart

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// commit is the commit that the function was built from. The Makefile sets it, if it knows it.
var commit string

// NewLog returns the log of a function: lines of JSON on standard output, each with the function's version and commit. It discards
// what others write by package log, because net/http writes unsolicited responses there, with their bodies.
func NewLog() *slog.Logger {
	log.SetOutput(io.Discard)
	handler := slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: renameTime})
	return slog.New(handler).With("version", os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"), "commit", commit)
}

// renameTime names the time of a line as Lambda does, which otherwise adds a time of its own. Source:
// Lambda Developer Guide, "Log-level filtering".
func renameTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Key = "timestamp"
	}
	return a
}

// Open returns a connected client, and the name of the function's table, which the environment variable tableVariable
// has. If a variable is missing, the error names it. Open logs how long it took.
func Open(tableVariable string, log *slog.Logger) (client *dynamodb.Client, table string, err error) {
	started := time.Now()
	for _, name := range []string{tableVariable, "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if os.Getenv(name) == "" {
			return nil, "", fmt.Errorf("environment variable %s is not set", name)
		}
	}
	client = dynamo.NewClient(config())
	dynamo.Connect(client)
	log.Info("cold start", "init_ms", time.Since(started).Milliseconds())
	return client, os.Getenv(tableVariable), nil
}

// config returns the configuration of DynamoDB that the environment describes. Lambda sets the region, and the
// credentials of the function's role.
func config() aws.Config {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	id, secret, session := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")
	if os.Getenv("AWS_SAM_LOCAL") == "true" { // sam local passes the developer's credentials: without them, nothing reaches AWS
		endpoint = cmp.Or(endpoint, "http://host.docker.internal:8000")
		id, secret, session = "local", "local", ""
	}
	c := aws.Config{
		Region:      os.Getenv("AWS_REGION"),
		Credentials: credentials.NewStaticCredentialsProvider(id, secret, session),
	}
	if endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	return c
}

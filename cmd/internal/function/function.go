// Package function starts a Lambda function with a log and its table in DynamoDB.
package function

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// commit is the commit that the function was built from. The Makefile sets it.
var commit string

// Run starts the function that newHandler returns, with the table that the environment variable tableVariable names. If
// a variable is missing, it logs which and exits with 1.
func Run(tableVariable string, newHandler func(*dynamodb.Client, string, *slog.Logger) lambda.Handler) {
	log := newLog()
	client, table, err := open(tableVariable)
	if err != nil {
		log.Error("cannot run", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(newHandler(client, table, log))
}

// newLog returns a log of JSON lines on standard output, each with the function's version and commit.
//
// It discards what others write by package log: net/http writes unsolicited responses there, with their bodies. This
// also loses the text with which aws-lambda-go exits. Lambda itself logs that the process exited, and counts an error.
func newLog() *slog.Logger {
	log.SetOutput(io.Discard)
	handler := slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: renameTime})
	return slog.New(handler).With("version", os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"), "commit", commit)
}

// renameTime names the time of a line as Lambda does, which otherwise adds a time of its own. Source: Lambda Developer
// Guide, "Log-level filtering".
func renameTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		a.Key = "timestamp"
	}
	return a
}

func open(tableVariable string) (client *dynamodb.Client, table string, err error) {
	ofLambda := []string{"AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for _, name := range append([]string{tableVariable}, ofLambda...) {
		if os.Getenv(name) == "" {
			return nil, "", fmt.Errorf("environment variable %s is not set", name)
		}
	}
	client = dynamo.NewClient(config())
	dynamo.Connect(client)
	return client, os.Getenv(tableVariable), nil
}

// config is made by hand, because the SDK's config module reads files and takes a millisecond of each cold start.
func config() aws.Config {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	provider := credentials.NewStaticCredentialsProvider(
		os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	if os.Getenv("AWS_SAM_LOCAL") == "true" { // sam local passes the developer's credentials: nothing may reach AWS
		endpoint = cmp.Or(endpoint, "http://host.docker.internal:8000")
		provider = credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	c := aws.Config{Region: os.Getenv("AWS_REGION"), Credentials: provider}
	if endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	return c
}

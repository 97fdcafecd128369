// Package coldstart gives a Lambda function what it needs before its first invocation: the name of its
// table, a connection to DynamoDB and a log.
package coldstart

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
)

// Resources are what the handler of a Lambda function needs from outside.
type Resources struct {
	Client *dynamodb.Client // connected
	Table  string           // name of the function's table
	Log    *slog.Logger
}

// Open opens the resources of a function. The environment variable tableVariable names its table. The log names
// the version of the function that Lambda runs. If a variable is missing or malformed, the error
// names it. Open logs how long it took. First of all it makes package log write to the same log why the function or
// an invocation failed, and nothing else. So the log.Fatal of a main is logged there, also with the error of Open.
func Open(tableVariable string) (Resources, error) {
	started := time.Now()
	logger := newLog(os.Stdout, os.Getenv("AWS_LAMBDA_FUNCTION_VERSION"))
	logFailures(logger)
	table, config, err := readEnvironment(tableVariable)
	if err != nil {
		return Resources{}, err
	}
	client := dynamo.NewFunctionClient(config, logger)
	dynamo.Connect(client)
	logger.Info("cold start", "init_ms", time.Since(started).Milliseconds())
	return Resources{Client: client, Table: table, Log: logger}, nil
}

// readEnvironment returns the table in tableVariable and the configuration of DynamoDB. An empty
// variable counts as unset. The error names the variable that is missing or malformed. Lambda sets the region,
// and the keys of the function's role.
func readEnvironment(tableVariable string) (table string, config aws.Config, err error) {
	for _, name := range []string{tableVariable, "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if os.Getenv(name) == "" {
			return "", config, fmt.Errorf("environment variable %s is not set", name)
		}
	}
	// The first of the two that is set; "" means AWS's own DynamoDB.
	endpoint, err := dynamo.ChooseEndpoint(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	if err != nil {
		return "", config, err
	}
	if endpoint != "" {
		config.BaseEndpoint = &endpoint
	}
	config.Region = os.Getenv("AWS_REGION")
	config.Credentials = credentials.NewStaticCredentialsProvider(
		os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	return os.Getenv(tableVariable), config, nil
}

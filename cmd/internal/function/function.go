// Package function sets up what each Lambda function needs: a log and a DynamoDB table.
package function

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"plantstore/internal/dynamo"
)

// Setup returns what a function needs: a DynamoDB client, the name of its table, and a log. The client has opened a
// connection, if DynamoDB can be reached. The environment variable tableVariable has the table's name. If a variable is
// missing, Setup logs its name and exits with status 1.
func Setup(tableVariable string) (client *dynamo.Client, table string, logger *slog.Logger) {
	logger = newLogger()
	client, table, err := open(tableVariable)
	if err != nil {
		logger.Error("cannot run", "error", err.Error())
		os.Exit(1)
	}
	return client, table, logger
}

// newLogger returns Lambda's logger, which adds the function's commit to each line.
//
// It discards the output of package log, because net/http logs unsolicited responses there, bodies included. This also
// discards the message that aws-lambda-go prints when it exits, but Lambda itself logs the exit and counts an error.
func newLogger() *slog.Logger {
	log.SetOutput(io.Discard)
	info, _ := debug.ReadBuildInfo() // every binary built from a module has it
	return lambdacontext.NewLogger().With("commit", commit(info))
}

// commit returns the commit that the function was built from, with the suffix -dirty if a file had been changed or
// added. It is empty for a build outside a git repository.
func commit(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	if settings["vcs.modified"] == "true" {
		return settings["vcs.revision"] + "-dirty"
	}
	return settings["vcs.revision"]
}

func open(tableVariable string) (client *dynamo.Client, table string, err error) {
	// Lambda sets all but the first.
	required := []string{tableVariable, "AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for _, name := range required {
		if os.Getenv(name) == "" {
			return nil, "", fmt.Errorf("environment variable %s is not set", name)
		}
	}
	client = dynamo.NewClient(config())
	client.Connect()
	return client, os.Getenv(tableVariable), nil
}

// config returns the SDK's configuration. It reads neither files nor variables such as AWS_USE_FIPS_ENDPOINT and
// AWS_USE_DUALSTACK_ENDPOINT. The SDK's own module for that would make a start 1 to 2 ms longer, and the binary 2 MB larger.
func config() aws.Config {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL"))
	provider := credentials.NewStaticCredentialsProvider(
		os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	if os.Getenv("AWS_SAM_LOCAL") == "true" { // sam local passes on the developer's credentials, but nothing may reach AWS
		endpoint = cmp.Or(endpoint, "http://host.docker.internal:8000")
		provider = credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	c := aws.Config{Region: os.Getenv("AWS_REGION"), Credentials: provider}
	if endpoint != "" {
		c.BaseEndpoint = &endpoint
	}
	return c
}

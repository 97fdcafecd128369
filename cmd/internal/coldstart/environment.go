package coldstart

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"plantstore/internal/dynamo"
)

// readEnvironment returns the table in tableVariable and the configuration of DynamoDB. An empty
// variable counts as unset. The error names the variable that is missing or malformed.
func readEnvironment(getenv func(string) string, tableVariable string) (table string, config aws.Config, err error) {
	for _, name := range []string{tableVariable, "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if getenv(name) == "" {
			return "", config, fmt.Errorf("environment variable %s is not set", name)
		}
	}
	endpoint, err := dynamo.EndpointFrom(getenv)
	if err != nil {
		return "", config, err
	}
	if endpoint != "" {
		config.BaseEndpoint = &endpoint
	}
	config.Region = getenv("AWS_REGION")
	config.Credentials = credentials.NewStaticCredentialsProvider(
		getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"))
	return getenv(tableVariable), config, nil
}

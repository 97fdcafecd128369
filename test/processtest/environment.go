package processtest

// Environment returns what a command needs for the DynamoDB at endpoint, and what
// else is given, such as the names of its tables.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

// InMemory returns the environment of a server whose stores are in memory,
// whatever the environment of the test is.
func InMemory() []string {
	return []string{
		"AWS_ENDPOINT_URL_DYNAMODB=", "AWS_ENDPOINT_URL=", "PLANTS_TABLE=", "TOKENS_TABLE=", "TOKEN_ISSUER=", "TOKEN_AUDIENCE=",
		"ALLOW_ORIGIN=", "SERVE_TOKEN=",
	}
}

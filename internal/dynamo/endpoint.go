package dynamo

import (
	"errors"
	"net/url"
)

// CheckEndpoint returns an error that begins with name, unless endpoint can be the URL of a DynamoDB.
func CheckEndpoint(name, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New(name + " is not an http or https URL, such as http://127.0.0.1:8000")
	}
	return nil
}

// ChooseEndpoint returns the URL of a DynamoDB that is not AWS's, or "" if there is none. forDynamoDB is the value
// of the environment variable AWS_ENDPOINT_URL_DYNAMODB, and forAllServices that of AWS_ENDPOINT_URL. The error
// names the variable that is malformed.
func ChooseEndpoint(forDynamoDB, forAllServices string) (string, error) {
	if forDynamoDB != "" {
		return forDynamoDB, CheckEndpoint("environment variable AWS_ENDPOINT_URL_DYNAMODB", forDynamoDB)
	}
	if forAllServices != "" {
		return forAllServices, CheckEndpoint("environment variable AWS_ENDPOINT_URL", forAllServices)
	}
	return "", nil
}

package function

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	local = "http://127.0.0.1:8000"
	all   = "https://all:1"
)

// reading reads an environment that is complete but for changes.
func reading(changes map[string]string) (table string, config aws.Config, err error) {
	environment := map[string]string{
		"TABLE":                 "plants",
		"AWS_REGION":            "eu-central-1",
		"AWS_ACCESS_KEY_ID":     "id",
		"AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN":     "session",
	}
	maps.Copy(environment, changes)
	getenv := func(name string) string { return environment[name] }
	return readEnvironment(getenv, "TABLE")
}

func TestReadEnvironment(t *testing.T) {
	table, config, err := reading(nil)
	if err != nil {
		t.Fatal(err)
	}
	if table != "plants" || config.Region != "eu-central-1" {
		t.Errorf("readEnvironment = table %q, region %q, want plants, eu-central-1", table, config.Region)
	}
	got, err := config.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := []string{got.AccessKeyID, got.SecretAccessKey, got.SessionToken}
	if want := []string{"id", "secret", "session"}; !slices.Equal(sent, want) {
		t.Errorf("readEnvironment = credentials %q, want %q", sent, want)
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct {
		name    string
		changes map[string]string
		want    string
	}{
		{"AWS's own", nil, ""},
		{"DynamoDB's own variable wins", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": local, "AWS_ENDPOINT_URL": all}, local},
		{"DynamoDB's own variable is empty", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": all}, all},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, config, err := reading(test.changes)
			if err != nil {
				t.Fatal(err)
			}
			if got := aws.ToString(config.BaseEndpoint); got != test.want {
				t.Errorf("readEnvironment with %v = endpoint %q, want %q", test.changes, got, test.want)
			}
		})
	}
}

// A variable that is missing or malformed is named in the error.
func TestReadEnvironmentErrors(t *testing.T) {
	tests := []struct {
		name, variable, value string
	}{
		{"no table", "TABLE", ""},
		{"no region", "AWS_REGION", ""},
		{"no key", "AWS_ACCESS_KEY_ID", ""},
		{"no secret key", "AWS_SECRET_ACCESS_KEY", ""},
		{"an endpoint without a scheme", "AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000"},
		{"an endpoint with another scheme", "AWS_ENDPOINT_URL_DYNAMODB", "ftp://host"},
		{"an endpoint without a host", "AWS_ENDPOINT_URL_DYNAMODB", "http://"},
		{"an endpoint that is no URL, for every service", "AWS_ENDPOINT_URL", "://"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := reading(map[string]string{test.variable: test.value})
			if err == nil || !strings.Contains(err.Error(), "environment variable "+test.variable+" ") {
				t.Errorf("readEnvironment with %s=%q = %v, want an error that names the variable", test.variable, test.value, err)
			}
		})
	}
}

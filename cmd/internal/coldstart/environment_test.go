package coldstart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
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
	const endpoint = "http://127.0.0.1:8000"
	table, config, err := reading(map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": endpoint})
	if err != nil {
		t.Fatal(err)
	}
	if table != "plants" || config.Region != "eu-central-1" {
		t.Errorf("readEnvironment = table %q, region %q, want plants, eu-central-1", table, config.Region)
	}
	if got := aws.ToString(config.BaseEndpoint); got != endpoint {
		t.Errorf("readEnvironment = endpoint %q, want %q", got, endpoint)
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

// A variable that is missing or malformed is named in the error.
func TestReadEnvironmentErrors(t *testing.T) {
	tests := []struct {
		name, variable, value string
	}{
		{"no table", "TABLE", ""},
		{"no region", "AWS_REGION", ""},
		{"no key", "AWS_ACCESS_KEY_ID", ""},
		{"no secret key", "AWS_SECRET_ACCESS_KEY", ""},
		{"an endpoint that is no URL", "AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000"},
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

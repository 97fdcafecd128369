package coldstart

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// The test of createplant checks what the log says of a variable that is missing or malformed.
func TestReadEnvironment(t *testing.T) {
	environment := map[string]string{
		"TABLE":                     "plants",
		"AWS_REGION":                "eu-central-1",
		"AWS_ACCESS_KEY_ID":         "id",
		"AWS_SECRET_ACCESS_KEY":     "secret",
		"AWS_SESSION_TOKEN":         "session",
		"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8000",
	}
	getenv := func(name string) string { return environment[name] }
	table, config, err := readEnvironment(getenv, "TABLE")
	if err != nil {
		t.Fatal(err)
	}
	if table != "plants" || config.Region != "eu-central-1" {
		t.Errorf("readEnvironment = table %q, region %q, want plants, eu-central-1", table, config.Region)
	}
	if got := aws.ToString(config.BaseEndpoint); got != "http://127.0.0.1:8000" {
		t.Errorf("readEnvironment = endpoint %q, want that of the environment", got)
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

package function

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A variable that is missing or malformed is named in the error.
func TestReadEnvironment(t *testing.T) {
	const local, all = "http://127.0.0.1:8000", "https://all:1"
	tests := []struct {
		variable, value string
		valid           bool
		endpoint        string
	}{
		{"TABLE", "", false, ""},
		{"AWS_REGION", "", false, ""},
		{"AWS_ACCESS_KEY_ID", "", false, ""},
		{"AWS_SECRET_ACCESS_KEY", "", false, ""},
		{"AWS_ENDPOINT_URL_DYNAMODB", "", true, all},
		{"AWS_ENDPOINT_URL_DYNAMODB", local, true, local},
		{"AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000", false, ""},
		{"AWS_ENDPOINT_URL_DYNAMODB", "ftp://host", false, ""},
		{"AWS_ENDPOINT_URL_DYNAMODB", "http://", false, ""},
		{"AWS_ENDPOINT_URL", "", true, ""},
		{"AWS_ENDPOINT_URL", "://", false, ""},
	}
	for _, test := range tests {
		table, config, err := readEnvironment(func(name string) string {
			if name == test.variable {
				return test.value
			}
			return map[string]string{
				"TABLE":                 "plants",
				"AWS_REGION":            "eu-central-1",
				"AWS_ACCESS_KEY_ID":     "id",
				"AWS_SECRET_ACCESS_KEY": "secret",
				"AWS_SESSION_TOKEN":     "session",
				"AWS_ENDPOINT_URL":      all,
			}[name]
		}, "TABLE")
		if (err == nil) != test.valid || err != nil && !strings.Contains(err.Error(), "environment variable "+test.variable) {
			t.Errorf("readEnvironment with %s=%q = %v, want valid %t", test.variable, test.value, err, test.valid)
			continue
		}
		if !test.valid {
			continue
		}
		got, err := config.Credentials.Retrieve(t.Context())
		if err != nil || got.AccessKeyID+got.SecretAccessKey+got.SessionToken != "idsecretsession" ||
			table != "plants" || config.Region != "eu-central-1" || aws.ToString(config.BaseEndpoint) != test.endpoint {
			t.Errorf("readEnvironment with %s=%q = %+v, want endpoint %q", test.variable, test.value, config, test.endpoint)
		}
	}
}

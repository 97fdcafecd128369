package dynamo

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestFromEnvironment(t *testing.T) {
	tests := []struct {
		name        string
		environment map[string]string
		endpoint    string
	}{
		{"AWS's own DynamoDB", nil, ""},
		{"empty variables count as unset", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": ""}, ""},
		{"the variable for every service", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": "http://all"}, "http://all"},
		{"the variable for DynamoDB comes first", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "https://one", "AWS_ENDPOINT_URL": "http://all"}, "https://one"},
	}
	for _, test := range tests {
		client, table, err := FromEnvironment(func(name string) string {
			if value, set := test.environment[name]; set {
				return value
			}
			return map[string]string{
				"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session", "TABLE": "plants",
			}[name]
		}, "TABLE")
		if err != nil || table != "plants" {
			t.Errorf("%s: FromEnvironment = table %q, %v, want plants", test.name, table, err)
			continue
		}
		cfg := client.Options()
		if err != nil || aws.ToString(cfg.BaseEndpoint) != test.endpoint || cfg.Region != "eu-central-1" {
			t.Errorf("%s: FromEnvironment = region %q, endpoint %q, %v, want %q", test.name, cfg.Region, aws.ToString(cfg.BaseEndpoint), err, test.endpoint)
			continue
		}
		got, err := cfg.Credentials.Retrieve(t.Context())
		if want := (aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session"}); err != nil || got != want {
			t.Errorf("%s: credentials = %+v, %v, want %+v", test.name, got, err, want)
		}
	}
}

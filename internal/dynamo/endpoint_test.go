package dynamo

import (
	"strings"
	"testing"
)

// DynamoDB's own variable wins over the one for every service. An empty one counts as none.
func TestEndpointFrom(t *testing.T) {
	const own, general = "http://127.0.0.1:8000", "https://general:1"
	tests := []struct {
		name        string
		environment map[string]string
		want        string
	}{
		{"AWS's own", nil, ""},
		{"both", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": own, "AWS_ENDPOINT_URL": general}, own},
		{"one for every service", map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL": general}, general},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := EndpointFrom(func(name string) string { return test.environment[name] })
			if err != nil || got != test.want {
				t.Errorf("EndpointFrom(%v) = %q, %v, want %q", test.environment, got, err, test.want)
			}
		})
	}
}

// The error names the variable.
func TestEndpointFromErrors(t *testing.T) {
	tests := []struct{ name, variable, value string }{
		{"no scheme", "AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000"},
		{"another scheme", "AWS_ENDPOINT_URL_DYNAMODB", "ftp://host"},
		{"no host", "AWS_ENDPOINT_URL_DYNAMODB", "http://"},
		{"no URL, for every service", "AWS_ENDPOINT_URL", "://"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			environment := map[string]string{test.variable: test.value}
			_, err := EndpointFrom(func(name string) string { return environment[name] })
			if err == nil || !strings.HasPrefix(err.Error(), "environment variable "+test.variable+" is not") {
				t.Errorf("EndpointFrom(%v) = %v, want an error that names the variable", environment, err)
			}
		})
	}
}

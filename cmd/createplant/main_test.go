package main

import (
	"log/slog"
	"strings"
	"testing"
)

// A variable that is missing or malformed stops the start, and is named.
func TestNewHandler(t *testing.T) {
	complete := map[string]string{
		"PLANTS_TABLE": "plants", "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
	}
	tests := []struct {
		variable, value string
		valid           bool
	}{
		{"PLANTS_TABLE", "", false},
		{"AWS_REGION", "", false},
		{"AWS_ACCESS_KEY_ID", "", false},
		{"AWS_SECRET_ACCESS_KEY", "", false},
		{"AWS_SESSION_TOKEN", "", true},
		{"AWS_ENDPOINT_URL_DYNAMODB", "", true},
		{"AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:8000", true},
		{"AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000", false},
		{"AWS_ENDPOINT_URL_DYNAMODB", "ftp://host", false},
		{"AWS_ENDPOINT_URL", "https://host", true},
		{"AWS_ENDPOINT_URL", "://", false},
	}
	for _, test := range tests {
		getenv := func(name string) string {
			if name == test.variable {
				return test.value
			}
			return complete[name]
		}
		_, err := newHandler(getenv, slog.New(slog.DiscardHandler))
		if (err == nil) != test.valid || (err != nil && !strings.Contains(err.Error(), "environment variable "+test.variable)) {
			t.Errorf("newHandler with %s=%q = %v, want valid %t", test.variable, test.value, err, test.valid)
		}
	}
}

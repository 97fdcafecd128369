package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A variable that is missing or malformed stops the start, and is named.
func TestNewHandler(t *testing.T) {
	complete := map[string]string{
		"PLANTS_TABLE": "plants", "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", // where nothing listens
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
		{"AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1", true},
		{"AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000", false},
		{"AWS_ENDPOINT_URL_DYNAMODB", "ftp://host", false},
		{"AWS_ENDPOINT_URL", "https://127.0.0.1:1", true},
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

	asked := make(chan string, 1)
	dynamoDB := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method }))
	defer dynamoDB.Close()
	complete["AWS_ENDPOINT_URL"] = dynamoDB.URL
	handler, err := newHandler(func(name string) string { return complete[name] }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || <-asked != http.MethodGet {
		t.Errorf("newHandler opened no connection")
	}
	if got := time.Since(handler.Now()).Abs(); got > time.Minute {
		t.Errorf("the handler's clock is %v off", got)
	}
	if first, second := handler.NewKey(), handler.NewKey(); first == second || len(first) < 26 {
		t.Errorf("fresh keys = %q, %q, want two with 128 bits", first, second)
	}
}

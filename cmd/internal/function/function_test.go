package function

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A function connects to DynamoDB before its first invocation. It does not start if an environment variable is missing.
func TestOpen(t *testing.T) {
	var requests int
	database := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer database.Close()
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", database.URL)
	variables := []string{"AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TABLE"}
	for _, name := range variables {
		t.Setenv(name, "value")
	}
	if _, table, err := open("TABLE"); table != "value" || err != nil || requests != 1 {
		t.Errorf("open = %s, %v after %d requests, want value, nil after 1 request", table, err, requests)
	}
	for _, name := range variables {
		t.Run("without "+name, func(t *testing.T) {
			t.Setenv(name, "")
			_, _, err := open("TABLE")
			if want := "environment variable " + name + " is not set"; fmt.Sprint(err) != want {
				t.Errorf("open = %v, want %s", err, want)
			}
		})
	}
}

// A function uses AWS's DynamoDB unless an endpoint is set. Under sam local, it never uses AWS's DynamoDB or the
// developer's credentials.
func TestConfig(t *testing.T) {
	const own, general = "http://own:1", "https://general:1"
	role := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session"}
	local := aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}
	for _, test := range []struct {
		name                   string
		samLocal, own, general string // environment variables; an empty one counts as unset
		wantEndpoint           string // "" for AWS's own
		want                   aws.Credentials
	}{
		{name: "in AWS", want: role},
		{name: "DynamoDB's own variable wins", own: own, general: general, wantEndpoint: own, want: role},
		{name: "a variable for every service", general: general, wantEndpoint: general, want: role},
		{name: "sam local", samLocal: "true", wantEndpoint: "http://host.docker.internal:8000", want: local},
		{name: "sam local with an endpoint", samLocal: "true", own: own, wantEndpoint: own, want: local},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("AWS_SAM_LOCAL", test.samLocal)
			t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", test.own)
			t.Setenv("AWS_ENDPOINT_URL", test.general)
			t.Setenv("AWS_REGION", "eu-central-1")
			t.Setenv("AWS_ACCESS_KEY_ID", "id")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
			t.Setenv("AWS_SESSION_TOKEN", "session")
			c := config()
			got, err := c.Credentials.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got.Source = "" // the provider's name
			endpoint := aws.ToString(c.BaseEndpoint)
			if endpoint != test.wantEndpoint || got != test.want || c.Region != "eu-central-1" {
				t.Errorf("config = %q, %+v, %s, want %q, %+v, eu-central-1", endpoint, got, c.Region, test.wantEndpoint, test.want)
			}
		})
	}
}

// A log line says which commit the function was built from, and whether files had been changed.
func TestCommit(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "c0ffee"}
	for _, test := range []struct {
		name     string
		settings []debug.BuildSetting
		want     string
	}{
		{"a commit", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "c0ffee"},
		{"a changed file", []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}, "c0ffee-dirty"},
		{"no repository", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commit(&debug.BuildInfo{Settings: test.settings}); got != test.want {
				t.Errorf("commit = %q, want %q", got, test.want)
			}
		})
	}
}

// net/http uses package log, and may log part of a response.
func TestPackageLogIsDiscarded(t *testing.T) {
	defer log.SetOutput(log.Writer())
	newLogger()
	if log.Writer() != io.Discard {
		t.Errorf("package log writes to %v, want %v", log.Writer(), io.Discard)
	}
}

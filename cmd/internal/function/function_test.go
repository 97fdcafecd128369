package coldstart

import (
	"bytes"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// A function opens its connection to DynamoDB before its first invocation, when Lambda gives it more CPU.
func TestOpen(t *testing.T) {
	requests := make(chan string, 10)
	database := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.Method }))
	defer database.Close()
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", database.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("TABLE", "plants")
	var printed bytes.Buffer
	_, table, err := Open("TABLE", slog.New(slog.NewTextHandler(&printed, nil)))
	if err != nil || table != "plants" {
		t.Fatalf("Open = %s, %v, want the table plants", table, err)
	}
	if got := len(requests); got != 1 {
		t.Errorf("Open sends %d requests to DynamoDB, want 1", got)
	}
}

// A function uses the credentials of its role, and AWS's own DynamoDB unless an endpoint is set. Under sam local it
// never gets the developer's credentials, nor AWS's own DynamoDB.
func TestConfig(t *testing.T) {
	role := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session"}
	local := aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}
	const own, general = "http://127.0.0.1:1", "https://general:1"
	tests := []struct {
		name                   string
		samLocal, own, general string // the variables
		wantEndpoint           string
		wantCredentials        aws.Credentials
	}{
		{name: "in AWS", wantCredentials: role},
		{name: "DynamoDB's own variable wins", own: own, general: general, wantEndpoint: own, wantCredentials: role},
		{name: "a variable for every service", general: general, wantEndpoint: general, wantCredentials: role},
		{name: "sam local", samLocal: "true", wantEndpoint: "http://host.docker.internal:8000", wantCredentials: local},
		{name: "sam local with an endpoint", samLocal: "true", own: own, wantEndpoint: own, wantCredentials: local},
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("AWS_SAM_LOCAL", test.samLocal)
			t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", test.own)
			t.Setenv("AWS_ENDPOINT_URL", test.general)
			got := config()
			credentials, err := got.Credentials.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			credentials.Source = ""
			if endpoint := aws.ToString(got.BaseEndpoint); endpoint != test.wantEndpoint || credentials != test.wantCredentials || got.Region != "eu-central-1" {
				t.Errorf("config = %q with %+v in %s, want %q with %+v", endpoint, credentials, got.Region, test.wantEndpoint, test.wantCredentials)
			}
		})
	}
}

// What others write by package log is dropped: net/http writes responses there.
func TestOthersLogNothing(t *testing.T) {
	defer log.SetOutput(log.Writer())
	var written bytes.Buffer
	log.SetOutput(&written)
	NewLog()
	log.Print("Unsolicited response received on idle HTTP channel")
	if written.Len() > 0 {
		t.Errorf("log = %s, want nothing", &written)
	}
}

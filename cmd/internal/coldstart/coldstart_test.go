package coldstart

import (
	"bytes"
	"log"
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
	t.Setenv("AWS_SESSION_TOKEN", "session")
	t.Setenv("TABLE", "plants")
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	resources, err := Open("TABLE")
	if err != nil || resources.Table != "plants" {
		t.Fatalf("Open = %+v, %v, want the table plants", resources, err)
	}
	if got := len(requests); got != 1 {
		t.Errorf("Open sends %d requests to DynamoDB, want 1", got)
	}
	options := resources.Client.Options()
	got, err := options.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session", Source: got.Source}
	if got != want || options.Region != "eu-central-1" {
		t.Errorf("Open = credentials %+v in %s, want %+v in eu-central-1", got, options.Region, want)
	}
}

// What others write by package log is dropped: net/http writes responses there.
func TestOthersLogNothing(t *testing.T) {
	var written bytes.Buffer
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	logFailures(newLog(&written, ""))
	log.Print("Unsolicited response received on idle HTTP channel")
	if written.Len() > 0 {
		t.Errorf("log = %s, want nothing", &written)
	}
}

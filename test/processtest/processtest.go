// Package processtest builds the commands of this module and runs them, and has what the tests of
// processes share, such as an environment.
package processtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// SkipWithout skips a test on a machine without what it needs, or fails it with CI=true.
func SkipWithout(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("skipped: this test needs " + what)
}

// Tags are the build tags of a deployed function, as in the Makefile.
const Tags = "lambda.norpc,nethttpomithttp2"

// Build builds the command in a folder of the module, such as cmd/createplant, with the tags of the deployed
// one, and returns the path of its binary.
func Build(t testing.TB, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", Tags, "-o", binary, "plantstore/"+folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// Environment returns what a command needs for the DynamoDB at endpoint, and what
// else is given, such as the names of its tables.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

// Package processtest runs the command of a test's package as a process: the test's own program, so that nothing is
// built. For what needs the deployed program, it builds that. It has what the tests of processes share.
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

// AsCommand is a variable with which the program of the tests runs as the command: see [Main].
const AsCommand = "RUN_AS_COMMAND=yes"

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

// Main is for the TestMain of a command. It runs the tests, or, in a process that they started, the command.
func Main(m *testing.M, command func()) {
	if os.Getenv("RUN_AS_COMMAND") == "yes" {
		command()
		return
	}
	m.Run()
}

// Environment returns what a process of a command needs for the DynamoDB at endpoint, and what else is given, such as
// the names of its tables.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		AsCommand, "GORACE=" + os.Getenv("GORACE"), "AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

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

// Python returns the Python of the virtual environment that a tool is in, which has the tool's packages.
func Python(t testing.TB, tool string) string {
	t.Helper()
	program, _ := exec.LookPath(tool)           // it may not be there
	program, _ = filepath.EvalSymlinks(program) // pipx links to it
	python := filepath.Join(filepath.Dir(program), "python3")
	if _, err := os.Stat(python); err != nil {
		SkipWithout(t, tool+", in Python: see CONTRIBUTING.md, Tools")
	}
	return python
}

// Tags are the build tags of a deployed function. TestBuiltFunction, in test/commands, compares them with those
// that tools/function gives it.
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

// RunInRoot runs the tests of a package two folders down in the root of the repository.
func RunInRoot(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// Environment returns what a command needs for the DynamoDB at endpoint, and what
// else is given, such as the names of its tables.
func Environment(endpoint string, others ...string) []string {
	return append([]string{
		"AWS_ENDPOINT_URL_DYNAMODB=" + endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
	}, others...)
}

// Copies the files that git tracks or would add, by an index of its own, so that the user's stays as it is.
const copyRepository = `set -e
cd "$(git rev-parse --show-toplevel)"
export GIT_INDEX_FILE="$1/index"
git add --all
git checkout-index --all --prefix="$1/"
rm "$GIT_INDEX_FILE"
unset GIT_INDEX_FILE
cd "$1"
git init --quiet
git add --all
git -c user.name=x -c user.email=x@example.com commit --quiet --message=x`

// Repository returns a folder with a new git repository. Its one commit has the files of this repository
// as they are, but for those that git ignores. Without git, it skips the test, or fails it with CI=true.
func Repository(t testing.TB) (folder string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Run(); err != nil {
		SkipWithout(t, "git and a clone")
	}
	folder = t.TempDir()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", copyRepository, "sh", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("copying the repository: %v: %s", err, out)
	}
	return folder
}

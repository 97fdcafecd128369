// Package processtest builds the commands of this module and runs them, and has what the tests of
// processes share, such as an environment.
package processtest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Lacks skips a test on a machine that lacks what it needs, or fails it with CI=true.
func Lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs " + what)
	}
	t.Skip("skipped: this test needs " + what)
}

// Python returns the Python that runs a tool, which has the tool's packages.
func Python(t testing.TB, tool string) string {
	t.Helper()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		program, _ := os.ReadFile(filepath.Join(folder, tool)) // it may not be there
		line, _, _ := strings.Cut(string(program), "\n")
		python, isScript := strings.CutPrefix(line, "#!")
		if isScript && strings.Contains(python, "python") {
			return python
		}
	}
	Lacks(t, tool+", in Python: see CONTRIBUTING.md, Tools")
	return ""
}

// Build builds the command in a folder of the module, such as cmd/createplant, with
// the tags of the deployed one, and returns the path of its binary.
func Build(t testing.TB, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc,nethttpomithttp2",
		"-o", binary, "plantstore/"+folder)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// RunAtOnce runs the tests of a package. More of its parallel tests run at once than there are
// processors, because they wait more than they work.
func RunAtOnce(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	m.Run()
}

// RunInRoot runs the tests of a package two folders down in the root of the repository.
func RunInRoot(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone returns a folder with a repository of the files here, without changes.
func clone(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	const files = `cd ../.. && git ls-files --cached --others --exclude-standard -z | xargs -0 sh -c 'for f; do ` +
		`[ ! -e "$f" ] || { mkdir -p "$0/$(dirname "$f")" && cp -p "$f" "$0/$f"; }; done' `
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", files+folder).CombinedOutput(); err != nil {
		if os.Getenv("CI") != "true" {
			t.Skipf("skipped: this test needs git and a clone: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	in(t, folder, "git init -q && git add -A && git -c user.name=x -c user.email=x@example.com commit -qm x")
	return folder
}

// in returns what a shell command prints in a folder. It must succeed.
func in(t *testing.T, folder, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail; "+command)
	shell.Dir = folder
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// TestRename renames a copy, finds no trace of the old names, and runs there the tests that read names. The other
// tests compile. A second rename shows that the tool has no name of its own.
func TestRename(t *testing.T) {
	t.Chdir("../..")
	old, err := currentNames()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("tools/rename")
	folder := clone(t)
	in(t, folder, "go run ./tools/rename example.org/copied/v2 renamed-copy9 rc9_")
	words := strings.ReplaceAll(old.name, "-", "[ _-]?") + "|" + old.prefix
	// Types such as PlantStore are named for the entity, and the licence requires to keep its line.
	in(t, folder, "! git grep -iE '"+words+"' ':!LICENSE' ':!tools/rename' | grep -vE '"+old.words("")+`\b([^/]|$)'`)
	in(t, folder, "! git ls-files | grep -iE '"+words+"'")
	in(t, folder, "gofmt -l . | { ! grep . ; } && go vet ./... && go mod tidy -diff")
	in(t, folder, "go test -skip AWSCommands ./internal/api ./internal/importtest ./internal/page ./internal/token "+
		"./tools/seed ./test/template ./test/documents")
	in(t, folder, "git -c user.name=x -c user.email=x@example.com commit -qm y && go run ./tools/rename copied-once-more copied-once-more")
	in(t, folder, "! git grep -iE 'renamed[ _-]?copy|rc9_' ':!tools/rename' && go vet ./...")
}

// TestRefusals checks that the tool refuses names that Go or AWS would refuse, and a work tree with changes, before it
// changes anything.
func TestRefusals(t *testing.T) {
	folder := clone(t)
	binary := filepath.Join(t.TempDir(), "rename")
	in(t, ".", "go build -o "+binary+" .")
	const good = "example.com/x refused-name "
	for _, test := range []struct{ args, status, want string }{
		{"", "2", "usage: go run ./tools/rename MODULE NAME [PREFIX]"},
		{good + "rn_ x", "2", "usage:"},
		{"'a b' refused-name", "1", "MODULE must be a module path"},
		{"https://example.com/x refused-name", "1", "MODULE must be a module path"},
		{"net/x refused-name", "1", "MODULE must not begin with net"},
		{"x.org/x Name", "1", "NAME must be words"},
		{"x.org/x 9name", "1", "NAME must be words"},
		{"x.org/x refused_name", "1", "NAME must be words"},
		{"x.org/x name-", "1", "NAME must be words"},
		{"x.org/x " + strings.Repeat("g", longestName+1), "1", "with at most 117 characters"},
		{"x.org/x create-plant", "1", "NAME must be new, but .ci/sam-local already contains create-plant"},
		{"x.org/x vendor", "1", "NAME must not be vendor"},
		{good + "rn", "1", "PREFIX must be"},
		{good + "Rn_", "1", "PREFIX must be"},
		{good + "token_", "1", "PREFIX must be new, but "},
		{good + "refusednames_", "1", "PREFIX must be"},
	} {
		got := in(t, folder, binary+" "+test.args+"; echo exit status $?; git status --porcelain")
		if !strings.Contains(got, test.want) || !strings.HasSuffix(got, "\nexit status "+test.status+"\n") {
			t.Errorf("rename %s prints %s, want %q, exit status %s and no changed file", test.args, got, test.want, test.status)
		}
	}
	got := in(t, folder, "touch new; "+binary+" "+good+"; git status --porcelain")
	if !strings.HasSuffix(got, "rename: the work tree has changes: commit or remove them first\n?? new\n") {
		t.Errorf("rename with a new file prints %s, want an error and no changed file", got)
	}
}

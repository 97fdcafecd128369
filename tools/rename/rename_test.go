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
	in(t, folder, "! git grep -iE '"+words+"' ':!LICENSE' | grep -vE '"+old.words("")+`\b([^/]|$)'`)
	in(t, folder, "! git ls-files | grep -iE '"+words+"'")
	in(t, folder, "gofmt -l . | { ! grep . ; } && go vet ./... && go mod tidy -diff")
	in(t, folder, "go test ./internal/api ./internal/importtest ./internal/page ./internal/token "+
		"./tools/seed ./test/template ./test/documents")
	in(t, folder, "git -c user.name=x -c user.email=x@example.com commit -qm y && go run ./tools/rename again again")
	in(t, folder, "! git grep -iE 'renamed[ _-]?copy|rc9_' && go vet ./...")
}

// TestRefusals checks that the tool refuses names that Go or AWS would refuse, and a work tree with changes, before it
// changes anything.
func TestRefusals(t *testing.T) {
	folder := clone(t)
	binary := filepath.Join(t.TempDir(), "rename")
	in(t, ".", "go build -o "+binary+" .")
	const good = "example.com/me/garden-shop garden-shop "
	for _, test := range []struct{ args, status, want string }{
		{"", "2", "usage: go run ./tools/rename MODULE NAME [PREFIX]"},
		{good + "gs_ x", "2", "usage:"},
		{"'a b' garden", "1", "MODULE must be a module path"},
		{"https://example.com/x garden", "1", "MODULE must be a module path"},
		{"net/garden garden", "1", "MODULE must not begin with net"},
		{"garden Garden", "1", "NAME must be words"},
		{"garden 9garden", "1", "NAME must be words"},
		{"garden garden_shop", "1", "NAME must be words"},
		{"garden garden-", "1", "NAME must be words"},
		{"garden " + strings.Repeat("g", longestName+1), "1", "with at most 117 characters"},
		{"garden authorizer", "1", "NAME must not be authorizer"},
		{"garden create-plant", "1", "NAME must not be create-plant"},
		{"garden check", "1", "NAME must not be check"},
		{"garden vendor", "1", "NAME must not be vendor"},
		{good + "gs", "1", "PREFIX must be"},
		{good + "Gs_", "1", "PREFIX must be"},
		{good + "gardenshop_", "1", "PREFIX must be"},
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

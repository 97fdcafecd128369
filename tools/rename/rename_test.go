package main

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// clone returns a folder with a repository of the files here, without changes.
func clone(t *testing.T) (folder string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		processtest.Lacks(t, "git")
	}
	folder = t.TempDir()
	in(t, "../..", `git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C `+folder)
	in(t, folder, "git init -q && git add -A && git -c user.name=x -c user.email=x@example.com commit -qm x")
	return folder
}

// in returns what a shell command prints in a folder. It must succeed.
func in(t *testing.T, folder, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = folder
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// TestRename checks that a renamed copy has no trace of the old names, and that its
// unit tests and the contract pass. The other tests compile.
func TestRename(t *testing.T) {
	folder := clone(t)
	in(t, folder, "go run ./tools/rename example.org/copied/v2 quite-another-copy9 qac9_ aardwolf/aardwolves")
	sampled := strings.Join(slices.Collect(maps.Keys(samples)), "|")
	old := current.singular + "|" + current.prefix + "|tools/rename|\\b(" + sampled + ")\\b"
	for _, command := range []string{
		"! git grep -inE '" + old + "' ':!LICENSE'",
		"! git ls-files | grep -iE '" + old + "'",
		"! git grep -inE '\\ba aardwolf' ':!LICENSE'",
		"! gofmt -l . | grep .",
		"go vet ./... && go mod tidy -diff",
		"go tool -modfile=tools/pinned/go.mod golangci-lint run --enable-only depguard ./...",
		"go test ./internal/... ./tools/...",
		"go test -run 'TestSpecification|TestContract/in_process' ./test/contract",
		"go test -run 'TestDocumentsAreTrue|TestFolders' ./test/documents",
	} {
		in(t, folder, command)
	}
}

// TestRefusals checks that the tool refuses what Go or AWS would refuse, before it
// changes anything.
func TestRefusals(t *testing.T) {
	folder := clone(t)
	t.Chdir(folder)
	const module, good = "example.com/x", "refused-name"
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"a module with a space", []string{"a b", good}, "MODULE must be a module path"},
		{"a module that is a URL", []string{"https://example.com/x", good}, "MODULE must be a module path"},
		{"a module of the standard library", []string{"net/x", good}, "MODULE must not begin with net"},
		{"a name with a capital letter", []string{module, "Name"}, "NAME must be words"},
		{"a name that begins with a digit", []string{module, "9name"}, "NAME must be words"},
		{"a name with an underscore", []string{module, "refused_name"}, "NAME must be words"},
		{"a name that ends with a hyphen", []string{module, "name-"}, "NAME must be words"},
		{"a name that is too long for a stack", []string{module, strings.Repeat("g", longestName+1)}, "with at most 117 characters"},
		{"a name that is a keyword", []string{module, "go-to"}, "called goto, a keyword of Go"},
		{"a name that is a folder of Go", []string{module, "test-data"}, "must not be vendor, testdata or internal"},
		{"a name that is a package here", []string{module, "token"}, "would both be called token"},
		{"a name that is a function here", []string{module, "create-plant"}, "would both be called cmd/createplant/main.go"},
		{"a name that is the entity", []string{module, "book", "bks_", "book/books"}, "would both be called book"},
		{"a prefix without an underscore", []string{module, good, "rn"}, "PREFIX must be"},
		{"a prefix with a capital letter", []string{module, good, "Rn_"}, "PREFIX must be"},
		{"a prefix that is too long", []string{module, good, "refusednames_"}, "PREFIX must be"},
		{"an entity without a plural", []string{module, good, "rn_", "book"}, "ENTITY must be one word"},
		{"an entity with an empty plural", []string{module, good, "rn_", "book/"}, "ENTITY must be one word"},
		{"an entity with a capital letter", []string{module, good, "rn_", "iPlant/iPlants"}, "ENTITY must be one word"},
		{"an entity of two words", []string{module, good, "rn_", "note-book/note-books"}, "ENTITY must be one word"},
		{"an entity with the same plural", []string{module, good, "rn_", "sheep/sheep"}, "would both be called sheep"},
		{"an entity that is a keyword", []string{module, good, "rn_", "func/funcs"}, "called func, a keyword of Go"},
		{"an entity that is a type of Go", []string{module, good, "rn_", "string/strings"}, "would both be called string"},
		{"an entity that is a package here", []string{module, good, "rn_", "token/tokens"}, "would both be called Token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := run(test.args); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("run(%q) = %v, want an error with %q", test.args, err, test.want)
			}
			if changed := in(t, folder, "git status --porcelain"); changed != "" {
				t.Fatalf("run(%q) changed:\n%s", test.args, changed)
			}
		})
	}
	t.Run("a work tree with changes", func(t *testing.T) {
		in(t, folder, "touch new")
		if err := run([]string{module, good}); err == nil || !strings.Contains(err.Error(), "the work tree has changes") {
			t.Errorf("run with a new file = %v, want an error", err)
		}
	})
}

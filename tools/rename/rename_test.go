package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// shell returns what a shell command prints. It must succeed.
func shell(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// TestRename checks that a renamed copy compiles and has no trace of the old names.
// With CI=true, also that its unit tests, the contract and the linter pass.
func TestRename(t *testing.T) {
	t.Chdir(processtest.Repository(t))
	ci := os.Getenv("CI") == "true"
	if err := rename([]string{"example.org/copied/v2", "quite-another-copy9", "qac9_", "aardwolf/aardwolves"}, ci); err != nil {
		t.Fatal(err)
	}
	old := strings.Join([]string{current.singular, current.prefix, "tools/rename", "make.it.your.own"}, "|") +
		`|\b(` + strings.Join(current.samples, "|") + `)\b`
	commands := []string{
		"! git grep -inE '" + old + "' ':!LICENSE'",
		"! git ls-files | grep -iE '" + old + "'",
		`! git grep -inE '\ba aardwolf' ':!LICENSE'`,
	}
	if ci {
		commands = append(commands,
			"go mod tidy -diff",
			"go test ./internal/... ./tools/...",
			"go test -run 'TestSpecification|TestContract/in_process' ./test/contract",
		)
	}
	for _, command := range commands {
		shell(t, command)
	}
}

// TestRefusals checks that names that Go, AWS or the files do not take change nothing.
func TestRefusals(t *testing.T) {
	t.Chdir(processtest.Repository(t))
	const module, name = "example.com/x", "refused-name"
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no name", []string{module}, "usage: "},
		{"a name with a capital letter", []string{module, "Name"}, "NAME must be words"},
		{"a name that begins with a digit", []string{module, "9name"}, "NAME must be words"},
		{"a name with an underscore", []string{module, "refused_name"}, "NAME must be words"},
		{"a name that ends with a hyphen", []string{module, "name-"}, "NAME must be words"},
		{"a prefix without an underscore", []string{module, name, "rn"}, "PREFIX must be"},
		{"a prefix with a capital letter", []string{module, name, "Rn_"}, "PREFIX must be"},
		{"a prefix that is too long", []string{module, name, "refusednames_"}, "PREFIX must be"},
		{"an entity without a plural", []string{module, name, "rn_", "book"}, "ENTITY must be one word"},
		{"an entity with an empty plural", []string{module, name, "rn_", "book/"}, "ENTITY must be one word"},
		{"an entity with a capital letter", []string{module, name, "rn_", "iPlant/iPlants"}, "ENTITY must be one word"},
		{"an entity of two words", []string{module, name, "rn_", "note-book/note-books"}, "ENTITY must be one word"},
		{"an entity that is a folder of Go", []string{module, name, "rn_", "vendor/vendors"}, "NAME and ENTITY must not be"},
		{"a name that is a folder of Go", []string{module, "test-data"}, "NAME and ENTITY must not be"},
		{"a module that is a URL", []string{"https://example.com/x", name}, "go vet"},
		{"a name that is a function here", []string{module, "create-plant"}, "git mv"},
		{"an entity that is a package here", []string{module, name, "rn_", "token/tokens"}, "git mv"},
		{"an entity that is a keyword", []string{module, name, "rn_", "func/funcs"}, "go vet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := rename(test.args, false); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("rename(%q) = %v, want an error that begins with %q", test.args, err, test.want)
			}
			if changed := shell(t, "git status --porcelain"); changed != "" {
				t.Fatalf("rename(%q) changed:\n%s", test.args, changed)
			}
		})
	}
	t.Run("a work tree with changes", func(t *testing.T) {
		shell(t, "touch new")
		if err := rename([]string{module, name}, false); err == nil || !strings.HasPrefix(err.Error(), "commit or remove") {
			t.Errorf("rename with a new file = %v, want an error", err)
		}
		shell(t, "ls new")
	})
}

// Package rename tests the command that makes a clone a service of its own.
package rename

import (
	"cmp"
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestRenameRefuses checks that a copy which cannot be renamed stays as it is, and that the command says why.
func TestRenameRefuses(t *testing.T) {
	folder := processtest.Repository(t)
	tests := []struct {
		name      string
		before    string // what is done first, by sh
		arguments string // "example.org/x x x_ x/xs" unless a row says otherwise
		prints    string
		after     string // undoes what was done first
	}{
		{name: "a new file is in the way", before: "touch new", prints: "remove these changes first:\n?? new", after: "rm new"},
		{
			name:      "a file that git ignores has the name that another would get",
			before:    "mkdir internal/aardwolf && touch internal/aardwolf/aardwolf.go && echo /internal/aardwolf >>.git/info/exclude",
			arguments: "example.org/x x x_ aardwolf/aardwolves",
			prints:    "internal/aardwolf/aardwolf.go",
			after:     "rm -r internal/aardwolf .git/info/exclude",
		},
		{
			name:   "an edit that git is set to hide is in the way",
			before: "git update-index --assume-unchanged Makefile && echo >>Makefile",
			prints: "Makefile: does not match index",
			after:  "git update-index --no-assume-unchanged Makefile && git checkout --quiet Makefile",
		},
		{name: "a prefix does not end with an underscore", arguments: "example.org/x x x x/xs", prints: "PREFIX must be one to nine"},
		{name: "a noun has a digit", arguments: "example.org/x x x_ x1/x1s", prints: "SINGULAR/PLURAL must be"},
		{name: "a file would get the name of another", arguments: "example.org/x x x_ token/tokens", prints: "would get the name of another file\nSo nothing is changed."},
		{name: "the code would not compile", arguments: "https://example.org/x x x_ x/xs", prints: "this fails: go vet ./...\ngo: malformed module path"},
		{
			name:   "a link that leads out of the tree is not followed",
			before: "echo plant >../outside && ln -s ../../outside docs/link && git add docs && git commit --quiet --message=x",
			prints: "docs/link is a symbolic link",
			after:  "grep -x plant ../outside && git reset --quiet --hard HEAD^",
		},
		{
			name:   "a folder is no repository",
			before: "mv .git ../git",
			prints: "Type this there first: git init && git add --all && git commit",
			after:  "mv ../git .git",
		},
		{name: "no part has the name", arguments: "example.org/x x x_ x/xs --without pages", prints: "there is no part pages; parts: jwt,"},
		{name: "the names are the old ones, and no part is taken out", arguments: "plantstore plant-store pst_ plant/plants", prints: "--without"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run(t, folder, test.before)
			command := exec.CommandContext(t.Context(), "sh", "-c", "tools/rename/run "+cmp.Or(test.arguments, "example.org/x x x_ x/xs"))
			command.Dir = folder
			out, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.prints) || strings.Contains(string(out), "Traceback") {
				t.Errorf("%s ends with %v and prints %s, want a failure with %q, and no traceback", command, err, out, test.prints)
			}
			run(t, folder, test.after)
			if changes := run(t, folder, "git status --porcelain --untracked-files=all"); changes != "" {
				t.Errorf("%s leaves\n%s", command, changes)
			}
		})
	}
}

// TestRename checks that a renamed copy has no trace of the old names but in LICENSE, compiles, and passes unit tests.
func TestRename(t *testing.T) {
	folder := processtest.Repository(t)
	run(t, folder, "echo /internal/aardwolf >>.gitignore && git commit --quiet --all --message=x") // git ignores a new name
	run(t, folder, "tools/rename/run example.org/copied/v2 quite-another-copy9 qac9_ aardwolf/aardwolves --without cors")
	tests := []struct {
		name    string
		command string // must succeed
	}{
		{name: "the part is gone", command: "! git ls-files | grep -i cors"},
		{name: "no mark of a part is left", command: "! git grep -nE '(#|//|<!--) (part: |}( -->|$))'"},
		{name: "no file has an old name in it", command: `! git grep -inE 'plant|pst_|monstera|\bfern\b|ficus|indoor|make.it.your.own' ':!LICENSE'`},
		{name: "make has the targets that it had", command: `test "$(git show HEAD:Makefile | grep -c ' ## ')" -eq "$(grep -c ' ## ' Makefile)"`},
		{name: "LICENSE stays as it is", command: "git diff --exit-code HEAD -- LICENSE"},
		{name: "no path has an old name", command: "! git ls-files | grep -iE 'plant|rename'"},
		{name: "the noun has its article", command: `! git grep -inE '\ba aardwolf'`},
		{
			name:    "the documents lose two headings, those of the sections about this command",
			command: `test $(git grep '^#' HEAD -- '*.md' | wc -l) -eq $(($(git grep '^#' -- '*.md' | wc -l) + 2))`,
		},
		{name: "README has its first two paragraphs", command: "sed -n 3p README.md | grep 'is a small web service' && sed -n 5p README.md | grep '^The service and its tests run'"},
		{name: "unit tests pass, with the tokens of the sample events", command: "go test ./internal/aardwolf ./internal/token ./tools/samples"},
		{name: "the rules about the stack have the new names", command: "! command -v sam || go test ./test/template -update"},
		{name: "tests of what a command prints pass", command: "go test -run TestStatus ./deploy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { run(t, folder, test.command) })
	}
}

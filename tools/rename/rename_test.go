// Package rename tests the command that makes a clone a service of its own.
package rename

import (
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestRename checks that a renamed copy has no trace of the old names but in LICENSE, compiles, and
// passes unit tests; and that a copy which cannot be renamed stays as it is.
func TestRename(t *testing.T) {
	folder := processtest.Repository(t)
	for _, step := range []struct {
		name    string
		command string
		fails   string // what a command that fails prints
	}{
		{name: "a new file", command: "touch new"},
		{name: "is in the way", command: "tools/rename/run example.org/x x x_ x/xs", fails: "remove these changes first:\n?? new"},
		{
			name:    "a file that git ignores, where one would get its name",
			command: "rm new && mkdir internal/aardwolf && touch internal/aardwolf/aardwolf.go && echo /internal/aardwolf >>.git/info/exclude",
		},
		{name: "is in the way, too", command: "tools/rename/run example.org/x x x_ aardwolf/aardwolves", fails: "internal/aardwolf/aardwolf.go"},
		{name: "without it", command: "rm -r internal/aardwolf .git/info/exclude"},
		{name: "an edit that git is set to hide", command: "git update-index --assume-unchanged Makefile && echo >>Makefile"},
		{name: "is in the way as well", command: "tools/rename/run example.org/x x x_ aardwolf/aardwolves", fails: "Makefile: does not match index"},
		{name: "without that edit", command: "git update-index --no-assume-unchanged Makefile && git checkout --quiet Makefile"},
		{name: "a prefix ends with an underscore", command: "tools/rename/run example.org/x x x x/xs", fails: "PREFIX must be one to nine"},
		{name: "a file may not get another's name", command: "tools/rename/run example.org/x x x_ token/tokens", fails: "nothing is changed"},
		{name: "nor may the code fail to compile", command: "tools/rename/run https://example.org/x x x_ x/xs", fails: "this fails: go vet ./...\ngo: malformed module path"},
		{name: "a link out of the tree", command: "echo plant >../outside && ln -s ../../outside docs/link && git add docs && git commit --quiet --message=x"},
		{name: "is not followed", command: "tools/rename/run example.org/x x x_ x/xs", fails: "docs/link is a symbolic link"},
		{name: "so what it leads to stays", command: "grep -x plant ../outside && git reset --quiet --hard HEAD^"},
		{name: "without git", command: "mv .git ../git"},
		{name: "it says so", command: "tools/rename/run example.org/x x x_ x/xs", fails: "Type this there first: git init && git add --all && git commit"},
		{name: "in a line", command: `test "$(tools/rename/run example.org/x x x_ x/xs 2>&1 | wc -l)" -eq 1`},
		{name: "with git", command: "mv ../git .git"},
		{name: "a part that it does not know", command: "tools/rename/run example.org/x x x_ x/xs --without pages", fails: "there is no part pages; parts: jwt,"},
		{name: "the names that it has, without a part to take out", command: "tools/rename/run plantstore plant-store pst_ plant/plants", fails: "--without"},
		{name: "nothing is changed", command: `test -z "$(git status --porcelain --untracked-files=all)"`},
		{name: "good names are taken", command: "tools/rename/run example.org/copied/v2 quite-another-copy9 qac9_ aardwolf/aardwolves --without cors"},
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
	} {
		if !t.Run(step.name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "sh", "-c", step.command)
			command.Dir = folder
			out, err := command.CombinedOutput()
			if failed := err != nil; failed != (step.fails != "") || !strings.Contains(string(out), step.fails) {
				t.Errorf("%s ends with %v and prints %s, want a failure: %q", step.command, err, out, step.fails)
			}
		}) {
			t.FailNow()
		}
	}
}

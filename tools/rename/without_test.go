package rename

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

const allParts = "jwt,page,cors,bench,mutation,local-aws,github,restore"

// TestWithout takes parts out of a copy: all, and with SOAK=1 also each alone. The rest compiles, the template is valid
// and passes its tests, no link is dead, and only documents may still speak of a part. With SOAK=1, the other tests of
// the rest pass too.
func TestWithout(t *testing.T) {
	sets := []string{allParts}
	tests := "./test/template ./tools/parameters"
	if os.Getenv("SOAK") != "" {
		sets = append(sets, strings.Split(allParts, ",")...)
		tests += " ./internal/... ./cmd/... ./deploy ./test/commands"
	}
	for _, parts := range sets {
		t.Run(parts, func(t *testing.T) {
			folder := processtest.Repository(t)
			before := run(t, folder, "make help | wc -l; git ls-files | wc -l")
			said := run(t, folder, "tools/rename/run plantstore plant-store pst_ plant/plants --without "+parts)
			if !strings.Contains(said, "\nbefore: ") || !strings.Contains(said, "\nafter:  ") {
				t.Errorf("it prints %s, want the size before and after", said)
			}
			for _, found := range regexp.MustCompile(`(?m)^\S+:\d+: .*`).FindAllString(said, -1) {
				if file, _, _ := strings.Cut(found, ":"); !strings.HasSuffix(file, ".md") {
					t.Errorf("it leaves %s", found)
				}
			}
			if after := run(t, folder, "make help | wc -l; git ls-files | wc -l"); after == before {
				t.Errorf("there are as many targets and files as before, %s", after)
			}
			marks := "(#|//|<!--) part: ([a-z,-]*,)?(" + strings.ReplaceAll(parts, ",", "|") + ")[^a-z]*$"
			run(t, folder, "! git grep -nE '"+marks+"' -- ':!tools/rename'")
			runIf(t, folder, "sam", "go test ./test/template -update")
			run(t, folder, "CI= go test "+tests)
			runIf(t, folder, "sam", "sam validate --lint")
			runIf(t, folder, "cfn-lint", "cfn-lint deploy/*.yaml")
			runIf(t, folder, "lychee", "lychee --offline --include-fragments --extensions md .")
		})
	}
}

// run runs a command in a folder. It must succeed. It returns what the command prints.
func run(t *testing.T, folder, text string) string {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", text)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

// runIf is run, if there is a program.
func runIf(t *testing.T, folder, program, text string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Logf("left out: %s", text)
		return
	}
	run(t, folder, text)
}

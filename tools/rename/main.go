// Command rename makes a clone of this repository a service of your own:
//
//	go run ./tools/rename MODULE NAME [PREFIX [ENTITY]]
//	go run ./tools/rename example.com/acme/bookshelf bookshelf bks_ book/books
//
// NAME gives the title (Plant Store), the stacks (plant-store-dev), the command
// (plantstore) and the namespace of the metrics (PlantStore). PREFIX begins every
// token; its default is the initials of NAME, then t_. ENTITY is what the service
// stores, in singular and plural; without it, that stays plants.
//
// It works on a clean clone and does not commit, so `git diff HEAD` shows all that it
// did, and `git reset --hard` undoes it. It removes itself, because it knows only the
// names of this repository, and does not change LICENSE, whose line must stay.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const usage = `usage: go run ./tools/rename MODULE NAME [PREFIX [ENTITY]]
for example: go run ./tools/rename example.com/acme/bookshelf bookshelf bks_ book/books`

func main() {
	if len(os.Args) < 3 || len(os.Args) > 5 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

// run renames the repository in the working directory.
func run(arguments []string) error {
	wanted, err := parse(arguments)
	if err != nil {
		return err
	}
	changes, err := output("git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return errors.New("the work tree has changes: commit or remove them first")
	}
	listed, err := output("git", "ls-files", "--", ".", ":!tools/rename", ":!LICENSE")
	if err != nil {
		return err
	}
	files := strings.Fields(listed)
	rename := newRenamer(wanted)
	if err := rename.clash(files); err != nil {
		return err
	}
	fmt.Printf("renaming in %d files\n", len(files))
	for _, file := range files {
		if err := rename.file(file); err != nil {
			return err
		}
	}
	picture := "env SCREENSHOT=1 go test -count=1 -run TestPage ./cmd/" + wanted.command()
	if _, err := exec.LookPath("chromium"); err != nil {
		picture = "echo Chromium is missing, so docs/page.png stays"
	}
	for _, step := range []string{
		"git rm -r --quiet tools/rename",
		"gofmt -w .",
		"go run ./tools/seed -events", // the checksums and digests of the sample tokens
		picture,
		"git add --all",
	} {
		fmt.Println(step)
		command := strings.Fields(step)
		if _, err := output(command[0], command[1:]...); err != nil {
			return fmt.Errorf("%w; git reset --hard undoes everything", err)
		}
	}
	fmt.Printf(next, wanted.singular, wanted.plural)
	return nil
}

const next = `
The changes are staged. What is left for you:
- Run make check, and commit.
- LICENSE keeps its line, as the licence requires. Add one with your own name.
- internal/%s still has the members of a plant (id, name, tag) and their rules.
  docs/architecture.md, "To add a field", lists what depends on them.
- Read README.md and docs once: they say of %s what was true of plants.
`

// output returns what a command prints to standard output.
func output(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	return string(out), err
}

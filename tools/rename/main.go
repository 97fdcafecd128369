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
// It works on a clean clone and does not commit. If a file would get the name of
// another, or Go does not accept the names, it restores the clone. It removes itself,
// because it knows only the names of this repository, and does not change LICENSE,
// whose line must stay.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

const next = `
The changes are staged: git diff HEAD shows them, and git reset --hard undoes them.
What is left for you:
- Run make check, and commit.
- LICENSE keeps its line, as the licence requires. Add one with your own name.
- internal/%s still has the members of a plant (id, name, tag) and their rules.
  docs/architecture.md, "Where to change what", lists what depends on them.
- Read README.md and docs once: they say of %s what was true of plants.
`

func main() {
	if err := rename(os.Args[1:], true); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

// rename renames the repository in the working directory, or changes nothing. With
// picture, it makes the picture of the page anew, for which it starts a browser.
func rename(arguments []string, picture bool) error {
	wanted, err := parse(arguments)
	if err != nil {
		return err
	}
	changes, err := output("git status --porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("commit or remove these changes first:\n%s", changes)
	}
	// An interrupt ends the command that runs, and so undoes what was done.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	if err := change(wanted, picture); err != nil {
		if _, err := output("git reset --quiet --hard"); err != nil {
			return err
		}
		return fmt.Errorf("%w\nso nothing is changed: choose other names, or rename what is in their way", err)
	}
	fmt.Printf(next, wanted.singular, wanted.plural)
	return nil
}

// change renames all files and what is in them, and checks that the code compiles.
func change(wanted names, picture bool) error {
	files, err := output("git ls-files -- . :!tools/rename :!LICENSE :!*.png")
	if err != nil {
		return err
	}
	for _, file := range strings.Fields(files) {
		if err := wanted.rewrite(file); err != nil {
			return err
		}
	}
	steps := []string{
		"git rm -r --quiet tools/rename",
		"go vet ./...",
		"gofmt -w .",
		"go run ./tools/samples -events", // the checksums and digests of the sample tokens
	}
	if picture {
		steps = append(steps, "env SCREENSHOT=1 go test -v -count=1 -run TestPage ./cmd/"+wanted.command())
	}
	for _, step := range append(steps, "git add --all") {
		fmt.Println(step)
		out, err := output(step)
		fmt.Print(out)
		if err != nil {
			return err
		}
	}
	return nil
}

// output returns what a command prints to standard output.
func output(line string) (string, error) {
	words := strings.Fields(line)
	command := exec.Command(words[0], words[1:]...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", line, err)
	}
	return string(out), err
}

// Command rename makes a clone of this repository a service of your own: it
// changes the module path, the name of the service and the prefix of its tokens
// in every file, and the names of files and folders.
//
//	go run ./tools/rename example.com/me/garden-shop garden-shop gs_
//
// The name gives the title (Garden Shop), the stacks (garden-shop-dev), the command
// (gardenshop) and the namespace of the metrics (GardenShop). The default of the
// prefix is the initials of the name, then t_.
//
// It works on a clean clone, so `git diff HEAD` shows all that it did, and
// `git reset --hard` undoes it. It does not change tools/rename, LICENSE (the licence
// requires its line) and the entity: plant, and types such as PlantStore.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/rename MODULE NAME [PREFIX]\n"+
			"for example: go run ./tools/rename example.com/me/garden-shop garden-shop gs_")
		os.Exit(2)
	}
	wanted := names{module: os.Args[1], name: os.Args[2]}
	wanted.prefix = strings.Join(append(os.Args[3:], regexp.MustCompile(`(\w)\w*-?`).ReplaceAllString(wanted.name, "$1")+"t_")[:1], "")
	if err := run(wanted); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

// run renames the repository in the working directory.
func run(wanted names) error {
	current, err := currentNames()
	if err != nil {
		return err
	}
	if err := wanted.check(); err != nil {
		return err
	}
	if changes, err := output("git", "status", "--porcelain"); err != nil || changes != "" {
		return errors.Join(err, errors.New("the work tree has changes: commit or remove them first"))
	}
	files, err := replaceAll(current, wanted)
	if err != nil {
		return err
	}
	if _, err := output("git", "add", "--all"); err != nil { // so that git reset undoes a failure after this
		return err
	}
	picture := strings.Fields("env SCREENSHOT=1 go test -count=1 -run TestPage ./cmd/...")
	if _, err := exec.LookPath("chromium"); err != nil {
		picture = []string{"echo", "docs/page.png shows the old name: with Chromium, run", strings.Join(picture[1:], " ")}
	}
	for _, command := range [][]string{
		{"gofmt", "-w", "."},
		{"go", "run", "./tools/seed", "-events"}, // the digests of the sample tokens
		picture,
		{"git", "add", "--all"},
		{"git", "-c", "core.safecrlf=false", "diff", "--cached", "--stat=120", "-M40"},
	} {
		out, err := output(command[0], command[1:]...)
		if err != nil {
			return err
		}
		fmt.Print(out)
	}
	if left := leftovers(files, current, wanted); left != nil {
		return fmt.Errorf("these places still have the old name:\n%s", strings.Join(left, "\n"))
	}
	fmt.Print(next)
	return nil
}

const next = `
Next: run make check, and commit; the changes are staged. LICENSE keeps its line, as the licence requires: add one with your own name.
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

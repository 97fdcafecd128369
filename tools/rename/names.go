package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// names are what a service is called.
type names struct {
	module string // example.com/me/garden-shop
	name   string // garden-shop
	prefix string // gs_, of tokens
}

// words returns the words of the name, each with a capital first letter, with a
// separator between them.
func (n names) words(separator string) string {
	words := strings.Split(n.name, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, separator)
}

// command returns the name as that of a command.
func (n names) command() string { return strings.ReplaceAll(n.name, "-", "") }

// currentNames reads the names from the files that define them.
func currentNames() (n names, err error) {
	for _, definition := range []struct {
		file, pattern string
		value         *string
	}{
		{"go.mod", `(?m)^module (\S+)$`, &n.module},
		{"samconfig.toml", `stack_name = "(.+)-dev"`, &n.name},
		{"internal/token/token.go", `\sprefix\s+= "(\w+)"`, &n.prefix},
	} {
		content, err := os.ReadFile(definition.file)
		if err != nil {
			return n, fmt.Errorf("%w: run this in the root of the repository", err)
		}
		match := regexp.MustCompile(definition.pattern).FindSubmatch(content)
		if match == nil {
			return n, fmt.Errorf("%s does not match %s", definition.file, definition.pattern)
		}
		*definition.value = string(match[1])
	}
	return n, nil
}

// longestName is the longest name of a stack in AWS, less that of its stage.
const longestName = 128 - len("-production")

// check returns an error if Go or AWS would not take the names.
func (n names) check() error {
	if _, err := output("go", "mod", "edit", "-module", n.module, "-print"); err != nil {
		return fmt.Errorf("MODULE must be a module path, such as example.com/me/garden-shop (%w)", err)
	}
	goRoot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(n.module, "/")
	_, standard := os.Stat(filepath.Join(strings.TrimSpace(goRoot), "src", first))
	switch {
	case standard == nil:
		return fmt.Errorf("MODULE must not begin with %s, a package of Go's standard library", first)
	case len(n.name) > longestName || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(n.name):
		return fmt.Errorf("NAME must be words of lower-case letters and digits with hyphens between them, "+
			"such as garden-shop, with at most %d characters", longestName)
	case n.command() == "vendor": // cmd/vendor would be no command
		return errors.New("NAME must not be vendor, which has a meaning for Go")
	case !regexp.MustCompile(`^[a-z][a-z0-9]{0,8}_$`).MatchString(n.prefix):
		return errors.New("PREFIX must be up to 9 lower-case letters and digits, then _, such as gs_")
	}
	// Otherwise the next rename would also change what only looks like the name.
	values := map[string]string{"NAME": n.name, "PREFIX": n.prefix}
	for name, pattern := range map[string]string{"NAME": n.name + "|" + n.command(), "PREFIX": `\b` + n.prefix} {
		found, _ := exec.Command("git", "grep", "-IilE", pattern, "--", ":!tools/rename").Output()
		if file, _, ok := strings.Cut(string(found), "\n"); ok {
			return fmt.Errorf("%s must be new, but %s already contains %s: choose another", name, file, values[name])
		}
	}
	return nil
}

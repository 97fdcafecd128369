package main

import (
	"errors"
	"fmt"
	"os"
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
	command := n.command()
	_, standardErr := os.Stat(filepath.Join(strings.TrimSpace(goRoot), "src", first))
	_, takenErr := os.Stat(filepath.Join("cmd", command))
	makefile, err := os.ReadFile("Makefile")
	isTarget := strings.Contains(string(makefile), "\n"+command+":")
	switch {
	case standardErr == nil:
		return fmt.Errorf("MODULE must not begin with %s, a package of Go's standard library", first)
	case len(n.name) > longestName || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(n.name):
		return fmt.Errorf("NAME must be words of lower-case letters and digits with hyphens between them, "+
			"such as garden-shop, with at most %d characters", longestName)
	case takenErr == nil || isTarget || command == "vendor" || command == "testdata":
		return fmt.Errorf("NAME must not be %s: a command, a target of the Makefile or Go has this name", n.name)
	case !regexp.MustCompile(`^[a-z][a-z0-9]{0,8}_$`).MatchString(n.prefix):
		return errors.New("PREFIX must be up to 9 lower-case letters and digits, then _, such as gs_")
	}
	return err
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// replaceAll replaces the current names in every file of git, and in the names of
// the files. It returns the files of text that it may change.
func replaceAll(current, wanted names) (files []string, err error) {
	tracked, err := output("git", "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	replace := replacer(current, wanted)
	for file := range strings.SplitSeq(strings.TrimSuffix(tracked, "\x00"), "\x00") {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if file == "LICENSE" || strings.HasPrefix(file, "tools/rename/") || bytes.ContainsRune(content, 0) {
			continue
		}
		renamed := strings.ReplaceAll(file, current.command(), wanted.command())
		if err := rewrite(file, renamed, replace(string(content))); err != nil {
			return nil, err
		}
		files = append(files, renamed)
	}
	return files, nil
}

// rewrite replaces a file by one with another name and content.
func rewrite(file, renamed, content string) error {
	if err := os.MkdirAll(filepath.Dir(renamed), 0o755); err != nil { //nolint:gosec // as git makes folders
		return err
	}
	if err := os.Rename(file, renamed); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(file))                // if it is empty
	return os.WriteFile(renamed, []byte(content), 0) // which keeps the mode
}

// replacer returns a function that replaces the names in the content of a file.
func replacer(current, wanted names) func(string) string {
	// Where the module path stands, the name may be the same word.
	module := regexp.MustCompile(`(?m)(^module |^import "|^\t(?:\w+ )?"|module-path: |local-prefixes: \[|, )` +
		regexp.QuoteMeta(current.module) + `(["/\]$]|$)`)
	const placeholder = "\x00"
	prefix := regexp.MustCompile(`\b` + current.prefix)
	others := strings.NewReplacer(
		placeholder, wanted.module,
		current.words(" "), wanted.words(" "),
		current.words("")+"/", wanted.words("")+"/", // the namespace of metrics, and no type of Go
		current.name, wanted.name,
		current.command(), wanted.command(),
	)
	return func(content string) string {
		content = module.ReplaceAllString(content, "${1}"+placeholder+"${2}")
		return others.Replace(prefix.ReplaceAllString(content, wanted.prefix))
	}
}

// staying matches names of types for the entity, which are not the service's.
var staying = regexp.MustCompile(`(Test)?PlantStore\b`)

// leftovers returns the lines of files that have an old name, in any spelling.
func leftovers(files []string, current, wanted names) (lines []string) {
	old := regexp.MustCompile(`(?i)` + strings.ReplaceAll(current.name, "-", `[-_\s]*`) + `|\b` + current.prefix)
	expected := strings.NewReplacer(wanted.module, "", wanted.name, "", wanted.command(), "", wanted.words(" "), "",
		wanted.words("")+"/", "", wanted.prefix, "")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			lines = append(lines, err.Error())
		}
		number := 0
		for line := range strings.Lines(string(content)) {
			if number++; old.MatchString(staying.ReplaceAllString(expected.Replace(line), "")) {
				lines = append(lines, fmt.Sprintf("%s:%d: %s", file, number, strings.TrimSpace(line)))
			}
		}
	}
	return lines
}

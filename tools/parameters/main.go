// Command parameters checks, before a deployment, that an environment sets each parameter of template.yaml
// where SAM reads it:
//
//	go run ./tools/parameters ENV
//
// SAM itself says nothing. It keeps the old value of a parameter that is left out. It ignores one that
// template.yaml lacks, and one in samconfig.toml beside parameter_overrides.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tools/parameters ENV")
		os.Exit(2)
	}
	mistakes, err := check(os.DirFS("."), os.Args[1])
	if err != nil {
		mistakes = append(mistakes, err.Error())
	}
	for _, mistake := range mistakes {
		fmt.Fprintln(os.Stderr, mistake)
	}
	if len(mistakes) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with the parameters of an environment of repository.
func check(repository fs.FS, environment string) (mistakes []string, err error) {
	var template struct {
		Parameters map[string]any `yaml:"Parameters"`
	}
	if err := read(repository, "template.yaml", &template); err != nil {
		return nil, err
	}
	settable := maps.Clone(template.Parameters)
	for _, name := range []string{"Architecture", "Build", "Shift"} { // tools/function sets these
		delete(settable, name)
	}
	missing := maps.Clone(settable)
	own := "environments/" + environment + ".yaml"
	for _, file := range []string{"environments/shared.yaml", own} {
		var parameters map[string]any
		if err := read(repository, file, &parameters); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			if _, known := settable[name]; !known {
				mistakes = append(mistakes, fmt.Sprintf("%s: template.yaml has no parameter %s that an environment sets", file, name))
			}
			delete(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		mistakes = append(mistakes, fmt.Sprintf("%s: %s is missing, also in shared.yaml, so the stack would keep its old value", own, name))
	}
	config, err := fs.ReadFile(repository, "samconfig.toml")
	if err != nil {
		return nil, err
	}
	// No dependency of ours parses TOML. SAM ignores such a line in every block.
	for line := range strings.Lines(string(config)) {
		name, _, _ := strings.Cut(line, "=")
		name = strings.Trim(name, " \t\"'")
		if _, known := template.Parameters[name]; known {
			mistakes = append(mistakes, fmt.Sprintf("samconfig.toml: SAM ignores %s here; set it in %s", name, own))
		}
	}
	return mistakes, nil
}

// read decodes a YAML file. It refuses a member that is there twice.
func read(repository fs.FS, file string, into any) error {
	content, err := fs.ReadFile(repository, file)
	if err != nil {
		return err
	}
	err = yaml.NewDecoder(bytes.NewReader(content)).Decode(into)
	if err != nil && !errors.Is(err, io.EOF) { // of an empty file
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Command parameters checks, before a deployment, that an environment sets each parameter of template.yaml
// where SAM reads it, and that SAM deploys the environment's own stack with the environment's own parameters:
//
//	go run ./tools/parameters ENV
//
// SAM itself says nothing. It keeps the old value of a parameter that is left out. It ignores one that
// template.yaml lacks, and one in samconfig.toml beside parameter_overrides.
//
// A roll back builds an old commit with the newest files of the environments. So shared.yaml may set a parameter
// that template.yaml does not have yet. A misspelt name in shared.yaml is found all the same: the right one is
// missing.
package main

import (
	"bytes"
	"cmp"
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

func main() { os.Exit(run(os.DirFS("."), os.Args[1:], os.Stderr)) }

// run prints what is wrong. It returns the exit status.
func run(repository fs.FS, arguments []string, stderr io.Writer) int {
	if len(arguments) != 1 {
		fmt.Fprintln(stderr, "usage: go run ./tools/parameters ENV")
		return 2
	}
	mistakes, err := check(repository, arguments[0])
	if err != nil {
		mistakes = append(mistakes, err.Error())
	}
	for _, mistake := range mistakes {
		fmt.Fprintln(stderr, mistake)
	}
	if len(mistakes) > 0 {
		return 1
	}
	return 0
}

// shared is the file with the parameters that all environments share.
const shared = "environments/shared.yaml"

// check returns what is wrong with the parameters of an environment of repository.
func check(repository fs.FS, environment string) (mistakes []string, err error) {
	var template struct {
		Parameters map[string]struct {
			AllowedValues []any `yaml:"AllowedValues"`
		} `yaml:"Parameters"`
	}
	if err := read(repository, "template.yaml", &template); err != nil {
		return nil, err
	}
	settable, missing := map[string]bool{}, map[string]bool{}
	for name := range template.Parameters {
		settable[name] = !slices.Contains([]string{"Architecture", "Build", "Shift"}, name) // tools/function sets these
		if settable[name] {
			missing[name] = true
		}
	}
	own := "environments/" + environment + ".yaml"
	var stage any
	for _, file := range []string{shared, own} {
		var parameters map[string]any
		if err := read(repository, file, &parameters); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			if _, known := template.Parameters[name]; !known && file == shared {
				settable[name] = true // by a newer template
			}
			if !settable[name] {
				mistakes = append(mistakes, fmt.Sprintf("%s: template.yaml has no parameter %s that an environment sets", file, name))
			}
			delete(missing, name)
		}
		stage = cmp.Or(parameters["Stage"], stage)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		mistakes = append(mistakes, fmt.Sprintf("%s: %s is missing, also in shared.yaml, so the stack would keep its old value", own, name))
	}
	want := environment
	if environment == "local" { // part: local-aws {
		want = "dev"
	} // }
	isStage := slices.Contains(template.Parameters["Stage"].AllowedValues, any(want)) // an environment such as staging-eu is no stage
	if isStage && stage != nil && stage != want {
		mistakes = append(mistakes, fmt.Sprintf("%s: Stage is %v, not %s", own, stage, want))
	}
	config, err := fs.ReadFile(repository, "samconfig.toml")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(config)) { // of every block
		name, _, _ := strings.Cut(line, "=")
		name = strings.Trim(name, " \t\"'")
		if _, known := template.Parameters[name]; known {
			mistakes = append(mistakes, fmt.Sprintf("samconfig.toml: SAM ignores %s here; set it in %s", name, own))
		}
	}
	return append(mistakes, checkBlock(string(config), environment)...), nil
}

// checkBlock returns what is wrong with an environment's block of samconfig.toml: it deploys the environment's
// stack, with the environment's parameters. No dependency of ours parses TOML, so both lines must be written as here.
func checkBlock(config, environment string) (mistakes []string) {
	header := "[" + environment + ".deploy.parameters]"
	_, block, _ := strings.Cut("\n"+config, "\n"+header)
	block, _, _ = strings.Cut(block, "\n[")
	for _, line := range []string{
		fmt.Sprintf(`stack_name = "plant-store-%s"`, environment),
		`parameter_overrides = ["file://environments/shared.yaml", ` +
			fmt.Sprintf(`"file://environments/%s.yaml", "file://.aws-sam/build/parameters.yaml"]`, environment),
	} {
		if !slices.Contains(strings.Split(block, "\n"), line) {
			mistakes = append(mistakes, fmt.Sprintf("samconfig.toml: %s lacks the line %s", header, line))
		}
	}
	return mistakes
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

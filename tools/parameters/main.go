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

// template is what template.yaml says of its parameters.
type template struct {
	Parameters map[string]struct {
		AllowedValues []any `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
}

// check returns what is wrong with the parameters of an environment of repository.
func check(repository fs.FS, environment string) (mistakes []string, err error) {
	var declared template
	if err := read(repository, "template.yaml", &declared); err != nil {
		return nil, err
	}
	var common, own map[string]any
	if err := read(repository, shared, &common); err != nil {
		return nil, err
	}
	file := "environments/" + environment + ".yaml"
	if err := read(repository, file, &own); err != nil {
		return nil, err
	}
	config, err := fs.ReadFile(repository, "samconfig.toml")
	if err != nil {
		return nil, err
	}
	mistakes = checkNames(declared, common, own, file)
	mistakes = append(mistakes, checkStage(declared, cmp.Or(own["Stage"], common["Stage"]), environment, file)...)
	for line := range strings.Lines(string(config)) { // of every block
		name, _, _ := strings.Cut(line, "=")
		name = strings.Trim(name, " \t\"'")
		if _, known := declared.Parameters[name]; known {
			mistakes = append(mistakes, fmt.Sprintf("samconfig.toml: SAM ignores %s here; set it in %s", name, file))
		}
	}
	return append(mistakes, checkBlock(string(config), environment)...), nil
}

// checkNames returns what is wrong with the names of the parameters that all environments share, and of those in an
// environment's own file.
func checkNames(declared template, common, own map[string]any, file string) (mistakes []string) {
	isSettable := func(name string) bool {
		if _, known := declared.Parameters[name]; !known {
			_, isNewer := common[name] // of a newer template
			return isNewer
		}
		return !slices.Contains([]string{"Architecture", "Build", "Shift"}, name) // tools/function sets these
	}
	for _, from := range []struct {
		file       string
		parameters map[string]any
	}{{file: shared, parameters: common}, {file: file, parameters: own}} {
		for _, name := range slices.Sorted(maps.Keys(from.parameters)) {
			if !isSettable(name) {
				mistakes = append(mistakes, fmt.Sprintf("%s: template.yaml has no parameter %s that an environment sets", from.file, name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared.Parameters)) {
		_, isCommon := common[name]
		_, isOwn := own[name]
		if isSettable(name) && !isCommon && !isOwn {
			mistakes = append(mistakes, fmt.Sprintf("%s: %s is missing, also in shared.yaml, so the stack would keep its old value", file, name))
		}
	}
	return mistakes
}

// checkStage returns what is wrong with the stage of an environment. An environment such as staging-eu is no stage,
// and may have any.
func checkStage(declared template, stage any, environment, file string) (mistakes []string) {
	want := environment
	if environment == "local" { // part: local-aws {
		want = "dev"
	} // }
	isStage := slices.Contains(declared.Parameters["Stage"].AllowedValues, any(want))
	if isStage && stage != nil && stage != want {
		mistakes = append(mistakes, fmt.Sprintf("%s: Stage is %v, not %s", file, stage, want))
	}
	return mistakes
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

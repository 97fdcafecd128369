// Command parameters checks, before a deployment, what SAM does not say about the configuration of an environment:
//
//	go run ./tools/parameters ENV
//
// SAM keeps the old value of a parameter that is left out. It ignores one that template.yaml lacks, and one in
// samconfig.toml beside parameter_overrides. It deploys whatever stack the block in samconfig.toml names.
//
// A roll back builds an old commit with the newest files of the environments. So shared.yaml may set a parameter
// that template.yaml does not have yet. A misspelt name in shared.yaml is found all the same: the right one is
// missing.
package main

import (
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
	mistakes := check(repository, arguments[0])
	for _, mistake := range mistakes {
		fmt.Fprintln(stderr, mistake)
	}
	if len(mistakes) > 0 {
		return 1
	}
	return 0
}

// template is what template.yaml says of its parameters.
type template struct {
	Parameters map[string]struct {
		AllowedValues []any `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
}

// check returns what is wrong with the configuration of an environment.
func check(repository fs.FS, environment string) (mistakes []string) {
	var declared template
	var shared, own map[string]any
	file := "environments/" + environment + ".yaml"
	samconfig, err := fs.ReadFile(repository, "samconfig.toml")
	err = errors.Join(err, read(repository, "template.yaml", &declared), read(repository, "environments/shared.yaml", &shared),
		read(repository, file, &own))
	if err != nil {
		return []string{err.Error()}
	}
	for _, mistake := range checkParameters(declared, shared, own) {
		mistakes = append(mistakes, file+": "+mistake)
	}
	// A name such as staging-eu is no stage. Such an environment may have any.
	stage := any(environment)
	if slices.Contains(declared.Parameters["Stage"].AllowedValues, stage) && own["Stage"] != stage {
		mistakes = append(mistakes, fmt.Sprintf("%s: Stage is %v, not %s", file, own["Stage"], environment))
	}
	for _, mistake := range checkBlock(string(samconfig), environment, declared) {
		mistakes = append(mistakes, "samconfig.toml: "+mistake)
	}
	return mistakes
}

// checkParameters returns which parameters of an environment are missing, or should not be there.
func checkParameters(declared template, shared, own map[string]any) (mistakes []string) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		_, isDeclared := declared.Parameters[name]
		_, isShared := shared[name]
		if !isDeclared && !isShared {
			mistakes = append(mistakes, "template.yaml has no parameter "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared.Parameters)) {
		_, isShared := shared[name]
		_, isOwn := own[name]
		isSet := isShared || isOwn
		isOfBuild := name == "Architecture" || name == "Build" || name == "Shift"
		if isOfBuild && isSet {
			mistakes = append(mistakes, fmt.Sprintf("%s is set, here or in shared.yaml, but each build sets it", name))
		}
		if !isOfBuild && !isSet {
			mistakes = append(mistakes, fmt.Sprintf("%s is missing, also in shared.yaml, so the stack would keep its old value", name))
		}
	}
	return mistakes
}

// checkBlock returns what is wrong with an environment's block of samconfig.toml. No dependency of ours parses TOML,
// so the lines must be written as here.
func checkBlock(samconfig, environment string, declared template) (mistakes []string) {
	lines := block(samconfig, environment)
	for _, line := range []string{
		`stack_name = "plant-store-` + environment + `"`,
		`force_upload = true`,
		`parameter_overrides = ["file://environments/shared.yaml", "file://environments/` + environment +
			`.yaml", "file://.aws-sam/build/parameters.yaml"]`,
	} {
		if !slices.Contains(lines, line) {
			mistakes = append(mistakes, fmt.Sprintf("the block %s lacks the line %s", environment, line))
		}
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		name = strings.Trim(name, " \t\"'")
		if _, isParameter := declared.Parameters[name]; isParameter {
			mistakes = append(mistakes, fmt.Sprintf("SAM ignores %s in the block %s: set it in environments/%s.yaml", name, environment, environment))
		}
	}
	return mistakes
}

// block returns the settings in an environment's block of samconfig.toml.
func block(samconfig, environment string) (lines []string) {
	_, after, _ := strings.Cut(samconfig, "["+environment+".deploy.parameters]\n")
	text, _, _ := strings.Cut(after, "\n[")
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// read decodes a YAML file. It refuses a member that is there twice.
func read(repository fs.FS, file string, into any) error {
	content, err := fs.ReadFile(repository, file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

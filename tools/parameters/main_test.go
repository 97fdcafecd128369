package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestEnvironments checks that each environment of this repository passes.
func TestEnvironments(t *testing.T) {
	repository := os.DirFS("../..")
	files, err := fs.Glob(repository, "environments/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("there are the environments %q, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if name == "shared" {
			continue
		}
		if mistakes, err := check(repository, name); err != nil || len(mistakes) > 0 {
			t.Errorf("%s has the mistakes %q, %v", name, mistakes, err)
		}
	}
}

const (
	overrides = `parameter_overrides = ["file://environments/shared.yaml", "file://environments/staging.yaml", "file://.aws-sam/build/parameters.yaml"]`
	samconfig = "[staging.deploy.parameters]\ntags = \"Stage=staging\"\nstack_name = \"plant-store-staging\"\n" + overrides + "\n"
)

// staging returns a repository with an environment without a mistake.
func staging() fstest.MapFS {
	const template = "Parameters: {Architecture: , Build: , Memory: , Shift: , Stage: {AllowedValues: [dev, staging]}}"
	return fstest.MapFS{
		"template.yaml":             {Data: []byte(template)},
		"environments/shared.yaml":  {Data: []byte("Memory: 256\n")},
		"environments/staging.yaml": {Data: []byte("Stage: staging\n")},
		"samconfig.toml":            {Data: []byte(samconfig)},
		"environments/local.yaml":   {Data: []byte("Stage: staging\n")}, // part: local-aws
	}
}

// TestStatus checks the exit status.
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name    string
		lacks   string // a file
		typed   []string
		want    int
		printed string
	}{
		{name: "no mistake", typed: []string{"staging"}},
		{name: "no environment", want: 2, printed: "usage: go run ./tools/parameters ENV\n"},
		{name: "a mistake", typed: []string{"shared"}, want: 1, printed: "lacks the line"},
		{name: "no template", typed: []string{"staging"}, lacks: "template.yaml", want: 1, printed: "open template.yaml: file does not exist\n"},
		{name: "no file of the environment", typed: []string{"dev"}, want: 1, printed: "open environments/dev.yaml: file does not exist\n"},
		{name: "the local AWS as staging", typed: []string{"local"}, want: 1, printed: "environments/local.yaml: Stage is staging, not dev\n"}, // part: local-aws
		{name: "no samconfig.toml", typed: []string{"staging"}, lacks: "samconfig.toml", want: 1, printed: "open samconfig.toml: file does not exist\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			repository := staging()
			delete(repository, test.lacks)
			var stderr strings.Builder
			if got := run(repository, test.typed, &stderr); got != test.want || !strings.Contains(stderr.String(), test.printed) {
				t.Errorf("run(%q) = %d and prints %q, want %d and %q", test.typed, got, &stderr, test.want, test.printed)
			}
		})
	}
}

// TestMistakes checks that each mistake is found.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		name    string
		file    string // of those below
		content string
		want    []string
	}{
		{name: "no mistake", file: "template.yaml", content: "Parameters: {Build: , Memory: , Shift: , Stage: {AllowedValues: [dev, staging]}}"},
		{
			name: "a parameter that the template lacks", file: "environments/staging.yaml", content: "TrottleRate: 7\nStage: staging\n",
			want: []string{"environments/staging.yaml: template.yaml has no parameter TrottleRate that an environment sets"},
		},
		{
			name: "a parameter of a newer template, for a roll back", file: "environments/shared.yaml", content: "Memory: 256\nNewer: 1\n",
		},
		{
			name: "a misspelt name in the file that all share", file: "environments/shared.yaml", content: "Memmory: 256\n",
			want: []string{"environments/staging.yaml: Memory is missing, also in shared.yaml, so the stack would keep its old value"},
		},
		{
			name: "a parameter that each build sets", file: "environments/shared.yaml", content: "Memory: 256\nShift: at-once\n",
			want: []string{"environments/shared.yaml: template.yaml has no parameter Shift that an environment sets"},
		},
		{
			name: "a parameter that is left out", file: "environments/shared.yaml", content: "# nothing\n",
			want: []string{"environments/staging.yaml: Memory is missing, also in shared.yaml, so the stack would keep its old value"},
		},
		{
			name: "the stage of another environment", file: "environments/staging.yaml", content: "Stage: dev\n",
			want: []string{"environments/staging.yaml: Stage is dev, not staging"},
		},
		{
			name: "a parameter beside parameter_overrides", file: "samconfig.toml", content: samconfig + "Memory = 7\n",
			want: []string{"samconfig.toml: SAM ignores Memory here; set it in environments/staging.yaml"},
		},
		{
			name: "one with a quoted name", file: "samconfig.toml", content: samconfig + " \"Memory\" = 7\n'Stage' = \"dev\"\n",
			want: []string{
				"samconfig.toml: SAM ignores Memory here; set it in environments/staging.yaml",
				"samconfig.toml: SAM ignores Stage here; set it in environments/staging.yaml",
			},
		},
		{
			name: "the stack of another environment", file: "samconfig.toml",
			content: strings.Replace(samconfig, "plant-store-staging", "plant-store-dev", 1),
			want:    []string{`samconfig.toml: [staging.deploy.parameters] lacks the line stack_name = "plant-store-staging"`},
		},
		{
			name: "the parameters of another environment", file: "samconfig.toml",
			content: strings.Replace(samconfig, "staging.yaml", "dev.yaml", 1),
			want:    []string{"samconfig.toml: [staging.deploy.parameters] lacks the line " + overrides},
		},
		{
			name: "no parameters of the build", file: "samconfig.toml",
			content: strings.Replace(samconfig, `, "file://.aws-sam/build/parameters.yaml"`, "", 1),
			want:    []string{"samconfig.toml: [staging.deploy.parameters] lacks the line " + overrides},
		},
		{
			name: "the lines of the environment in the block of another", file: "samconfig.toml",
			content: strings.Replace(samconfig, "tags", "[dev.deploy.parameters]\ntags", 1),
			want: []string{
				`samconfig.toml: [staging.deploy.parameters] lacks the line stack_name = "plant-store-staging"`,
				"samconfig.toml: [staging.deploy.parameters] lacks the line " + overrides,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			repository := staging()
			repository[test.file] = &fstest.MapFile{Data: []byte(test.content)}
			if mistakes, err := check(repository, "staging"); err != nil || !slices.Equal(mistakes, test.want) {
				t.Errorf("check = %q, %v, want %q", mistakes, err, test.want)
			}
		})
	}
}

// TestOtherStage checks that an environment whose name is no stage may have any stage.
func TestOtherStage(t *testing.T) {
	if mistakes := checkStage(template{}, "staging", "staging-eu", "environments/staging-eu.yaml"); len(mistakes) > 0 {
		t.Errorf("checkStage = %q, want no mistake", mistakes)
	}
}

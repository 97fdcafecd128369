package main

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// TestEnvironments checks the environments of this repository. The block of each is that of default, which
// deploys dev, with the environment's name: SAM takes no setting, such as the tags, from another block.
func TestEnvironments(t *testing.T) {
	repository := os.DirFS("../..")
	samconfig, err := fs.ReadFile(repository, "samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(repository, "environments/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("there are the environments %q, %v", files, err)
	}
	ofDev := strings.Join(block(string(samconfig), "default"), "\n")
	audiences := map[any]string{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if name == "shared" {
			continue
		}
		if mistakes := check(repository, name); len(mistakes) > 0 {
			t.Errorf("%s has the mistakes %q", name, mistakes)
		}
		got := strings.Join(block(string(samconfig), name), "\n")
		got = strings.Replace(got, "profile = \"plant-store-local\"\n", "", 1)
		if want := strings.ReplaceAll(ofDev, "dev", name); got != want {
			t.Errorf("the block of %s is\n%s\nwant\n%s", name, got, want)
		}
		var parameters map[string]any
		for _, from := range []string{"environments/shared.yaml", file} {
			if err := read(repository, from, &parameters); err != nil {
				t.Fatal(err)
			}
		}
		if name == "production" && parameters["RefusalLimit"] == 100 {
			t.Error("RefusalsAlarm is off in production")
		}

		if audience := parameters["TokenAudience"]; audience != "" && audiences[audience] != "" {
			t.Errorf("%s and %s take each other's JWTs, for %s", name, audiences[audience], audience)
		}
		audiences[parameters["TokenAudience"]] = name

	}
}

// TestRun checks that each mistake in an environment is printed.
func TestRun(t *testing.T) {
	const (
		template  = "Parameters: {Architecture: , Build: , Memory: , Shift: , Stage: {AllowedValues: [dev, staging]}}"
		overrides = `parameter_overrides = ["file://environments/shared.yaml", "file://environments/staging.yaml", "file://.aws-sam/build/parameters.yaml"]`
		samconfig = "[staging.deploy.parameters]\nstack_name = \"plant-store-staging\"\nforce_upload = true\n" + overrides + "\n"
		missing   = "environments/staging.yaml: Memory is missing, also in shared.yaml, so the stack would keep its old value\n"
		lacks     = "samconfig.toml: the block staging lacks the line "
	)
	tests := []struct {
		name          string
		file, content string // in place of a good one
		want          string
	}{
		{name: "no mistake"},
		{name: "no file of the environment", file: "environments/staging.yaml", want: "open environments/staging.yaml: file does not exist\n"},
		{name: "a parameter twice", file: "environments/shared.yaml", content: "Memory: 1\nMemory: 2", want: "environments/shared.yaml: yaml: unmarshal errors:\n  line 2: mapping key \"Memory\" already defined at line 1\n"},
		{
			name: "a parameter that the template lacks", file: "environments/staging.yaml", content: "TrottleRate: 7\nStage: staging",
			want: "environments/staging.yaml: template.yaml has no parameter TrottleRate\n",
		},
		{name: "a parameter of a newer template, for a roll back", file: "environments/shared.yaml", content: "Memory: 256\nNewer: 1"},
		{name: "a misspelt name in the file that all share", file: "environments/shared.yaml", content: "Memmory: 256", want: missing},
		{
			name: "a parameter that each build sets", file: "environments/shared.yaml", content: "Memory: 256\nShift: at-once",
			want: "environments/staging.yaml: Shift is set, here or in shared.yaml, but each build sets it\n",
		},
		{
			name: "the stage of another environment", file: "environments/staging.yaml", content: "Stage: dev",
			want: "environments/staging.yaml: Stage is dev, not staging\n",
		},
		{name: "a name that is no stage, with any", file: "template.yaml", content: strings.Replace(template, ", staging", "", 1)},
		{
			name: "a parameter beside parameter_overrides", file: "samconfig.toml", content: samconfig + " \"Memory\" = 7",
			want: "samconfig.toml: SAM ignores Memory in the block staging: set it in environments/staging.yaml\n",
		},
		{
			name: "the stack of another environment", file: "samconfig.toml", content: strings.Replace(samconfig, "plant-store-staging", "plant-store-dev", 1),
			want: lacks + "stack_name = \"plant-store-staging\"\n",
		},
		{name: "the parameters of another environment", file: "samconfig.toml", content: strings.Replace(samconfig, "staging.yaml", "dev.yaml", 1), want: lacks + overrides + "\n"},
		{name: "what is in SAM's bucket", file: "samconfig.toml", content: strings.Replace(samconfig, "force_upload", "# force_upload", 1), want: lacks + "force_upload = true\n"},
		{name: "a line in the block of another", file: "samconfig.toml", content: strings.Replace(samconfig, overrides, "[dev.deploy.parameters]\n"+overrides, 1), want: lacks + overrides + "\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			repository := fstest.MapFS{
				"template.yaml":             {Data: []byte(template)},
				"environments/shared.yaml":  {Data: []byte("Memory: 256\n")},
				"environments/staging.yaml": {Data: []byte("Stage: staging\n")},
				"samconfig.toml":            {Data: []byte(samconfig)},
			}
			delete(repository, test.file)
			if test.content != "" {
				repository[test.file] = &fstest.MapFile{Data: []byte(test.content)}
			}
			status := 0
			if test.want != "" {
				status = 1
			}
			var stderr strings.Builder
			if got := run(repository, []string{"staging"}, &stderr); got != status || stderr.String() != test.want {
				t.Errorf("run(staging) = %d and prints %q, want %d and %q", got, &stderr, status, test.want)
			}
		})
	}
}

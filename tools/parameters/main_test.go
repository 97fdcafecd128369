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

// TestMistakes checks that each mistake is found.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		name    string
		file    string // of those below
		content string
		want    []string
	}{
		{name: "no mistake", file: "template.yaml", content: "Parameters: {Build: , Memory: , Shift: , Stage: }"},
		{
			name: "a parameter that the template lacks", file: "environments/staging.yaml", content: "TrottleRate: 7\nStage: staging\n",
			want: []string{"environments/staging.yaml: template.yaml has no parameter TrottleRate that an environment sets"},
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
			name: "a parameter beside parameter_overrides", file: "samconfig.toml", content: "[staging.deploy.parameters]\n \"Memory\" = 7\n",
			want: []string{"samconfig.toml: SAM ignores Memory here; set it in environments/staging.yaml"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			repository := fstest.MapFS{
				"template.yaml":             {Data: []byte("Parameters: {Architecture: , Build: , Memory: , Shift: , Stage: }")},
				"environments/shared.yaml":  {Data: []byte("Memory: 256\n")},
				"environments/staging.yaml": {Data: []byte("Stage: staging\n")},
				"samconfig.toml":            {Data: []byte("[staging.deploy.parameters]\ntags = \"Stage=staging\"\n")},
			}
			repository[test.file] = &fstest.MapFile{Data: []byte(test.content)}
			if mistakes, err := check(repository, "staging"); err != nil || !slices.Equal(mistakes, test.want) {
				t.Errorf("check = %q, %v, want %q", mistakes, err, test.want)
			}
		})
	}
}

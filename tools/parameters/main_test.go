package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

// TestEnvironments checks that each environment of samconfig.toml passes.
func TestEnvironments(t *testing.T) {
	config, err := os.ReadFile("samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	environments := 0
	for line := range strings.Lines(string(config)) {
		name, isDeploy := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(line), "["), ".deploy.parameters]")
		if !isDeploy || name == "default" { // default is dev
			continue
		}
		environments++
		if mistakes, err := check(name); err != nil || len(mistakes) > 0 {
			t.Errorf("%s has the mistakes %q, %v", name, mistakes, err)
		}
	}
	if environments == 0 {
		t.Error("samconfig.toml has no environment")
	}
}

// TestMistakes checks that each mistake is found.
func TestMistakes(t *testing.T) {
	for _, row := range []struct {
		name                   string
		file, old, replacement string
		want                   string
	}{
		{
			name: "a parameter that the template lacks", file: "environments/staging.yaml", old: "Stage:", replacement: "TrottleRate: 7\nStage:",
			want: "environments/staging.yaml: template.yaml has no parameter TrottleRate that an environment sets",
		},
		{
			name: "a parameter that each build sets", file: "environments/shared.yaml", old: "Memory:", replacement: "Shift: at-once\nMemory:",
			want: "environments/shared.yaml: template.yaml has no parameter Shift that an environment sets",
		},
		{
			name: "a parameter that is left out", file: "environments/shared.yaml", old: "Memory: 256\n",
			want: "environments/staging.yaml: Memory is missing, also in shared.yaml, so the stack would keep its old value",
		},
		{
			name: "a parameter beside parameter_overrides", file: "samconfig.toml", old: "[staging.deploy.parameters]\n",
			replacement: "[staging.deploy.parameters]\nThrottleRate = 7\n",
			want:        "samconfig.toml: SAM ignores ThrottleRate here; set it in environments/staging.yaml",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := processtest.Repository(t)
			path := filepath.Join(folder, row.file)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(content), row.old, row.replacement, 1)
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Chdir(folder)
			if mistakes, err := check("staging"); err != nil || !slices.Equal(mistakes, []string{row.want}) {
				t.Errorf("check = %q, %v, want %q", mistakes, err, row.want)
			}
		})
	}
	t.Run("a parameter that is there twice", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("template.yaml", []byte("A: 1\nA: 2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := check("staging"); err == nil || !strings.Contains(err.Error(), "already defined") {
			t.Errorf("check fails with %v, want that a member is already defined", err)
		}
	})
}

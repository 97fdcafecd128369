package plantstore

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// `make build` runs this after `sam build`. SAM does not tell the build target
// for which processor it builds, so nothing else would notice a function that
// was built for another one than it will be deployed to.
func TestBuiltFunctionsMatchTheirTemplate(t *testing.T) {
	if os.Getenv("BUILT") == "" {
		t.Skip("skipped: `make build` runs this on what it built")
	}
	content, err := os.ReadFile(".aws-sam/build/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct {
			Default string `yaml:"Default"`
		} `yaml:"Parameters"`
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				CodeURI string `yaml:"CodeUri"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	architecture := template.Parameters["Architecture"].Default
	want, known := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
	if !known {
		t.Fatalf("the built template's Architecture = %q, want arm64 or x86_64", architecture)
	}
	functions := 0
	for name, resource := range template.Resources {
		if resource.Type != "AWS::Serverless::Function" {
			continue
		}
		functions++
		folder := filepath.Join(".aws-sam/build", resource.Properties.CodeURI)
		files, err := os.ReadDir(folder)
		if err != nil || len(files) != 1 || files[0].Name() != "bootstrap" {
			t.Errorf("%s holds %v (%v), want bootstrap alone", name, files, err)
			continue
		}
		binary, err := elf.Open(filepath.Join(folder, "bootstrap"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if binary.Machine != want {
			t.Errorf("%s is built for %v, want %v", name, binary.Machine, want)
		}
		if libraries, err := binary.ImportedLibraries(); err != nil || len(libraries) > 0 {
			t.Errorf("%s needs the libraries %v (%v), want none", name, libraries, err)
		}
		if err := binary.Close(); err != nil {
			t.Error(err)
		}
	}
	if functions != 2 {
		t.Errorf("the built template has %d functions, want 2", functions)
	}
}

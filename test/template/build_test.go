package template

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestBuiltFunctions checks what `sam build` has built. SAM does not tell the Makefile for
// which processor it builds.
func TestBuiltFunctions(t *testing.T) {
	if os.Getenv("BUILT") == "" {
		t.Skip("skipped: `make build` runs this on what it built")
	}
	var built struct {
		Parameters map[string]map[string]any `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".aws-sam/build/template.yaml")), &built); err != nil {
		t.Fatal(err)
	}
	architecture, _ := built.Parameters["Architecture"]["Default"].(string)
	binaries, err := filepath.Glob(".aws-sam/build/*/bootstrap")
	if err != nil || len(binaries) == 0 {
		t.Fatalf("there are no built functions: %v", err)
	}
	for _, binary := range binaries {
		checkBuild(t, binary, architecture)
	}
}

// checkBuild checks that a binary is for a processor and needs no library, and that
// `sam deploy` and `sam local` get that processor from the parameters beside its folder.
func checkBuild(t *testing.T, binary, architecture string) {
	t.Helper()
	var parameters map[string]string
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(binary, "../../parameters.yaml"))), &parameters); err != nil {
		t.Fatal(err)
	}
	if parameters["Architecture"] != architecture || parameters["Build"] == "" || parameters["Shift"] == "" {
		t.Errorf("the parameters are %+v, want the architecture %s, a build and a shift", parameters, architecture)
	}
	file, err := elf.NewFile(strings.NewReader(read(t, binary)))
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}
	if file.Machine != machines[architecture] {
		t.Errorf("%s is for %v, want %s", binary, file.Machine, architecture)
	}
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("%s needs the libraries %v (%v), want none", binary, libraries, err)
	}
}

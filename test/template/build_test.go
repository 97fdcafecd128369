package template

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestBuild checks what the Makefile builds for a processor that is not this machine's. Any folder and any
// settings of Go give the same bytes, so that a deployment without a change deploys nothing. A cold start
// loads the zip, which has at most 3.8 MB.
func TestBuild(t *testing.T) {
	t.Parallel()
	architecture := "arm64"
	if runtime.GOARCH == "arm64" {
		architecture = "x86_64"
	}
	elsewhere := t.TempDir()
	run(t, "cp", "-R", "cmd", "internal", "go.mod", "go.sum", "Makefile", elsewhere)
	for name := range properties[function](t, production(t), "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary := build(t, name, architecture, "--directory=.")
			other := build(t, name, architecture, "--directory="+elsewhere, "CGO_ENABLED=1", "GOAMD64=v3", "GOARM64=v9.0")
			if read(t, binary) != read(t, other) {
				t.Error("another folder and other settings of Go give other bytes")
			}
			zip, err := exec.CommandContext(t.Context(), "gzip", "--stdout", binary).Output() // as a zip compresses
			if err != nil || len(zip) > 3_800_000 {
				t.Errorf("its zip has %d bytes (%v), want at most 3.8 MB", len(zip), err)
			}
		})
	}
}

// build builds a function as `sam build` does, and returns the path of the binary.
func build(t *testing.T, name, architecture string, options ...string) string {
	t.Helper()
	artifacts := filepath.Join(t.TempDir(), name)
	run(t, "make", append(options, "build-"+name, "ARCH="+architecture, "ARTIFACTS_DIR="+artifacts)...)
	binary := filepath.Join(artifacts, "bootstrap")
	checkBuild(t, binary, architecture)
	return binary
}

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

package template

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var machines = map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}

// settings are those for every processor of Lambda's, whatever the caller's are.
var settings = map[string]string{"CGO_ENABLED": "0", "GOAMD64": "v1", "GOARM64": "v8.0"}

// TestBuild checks what the targets of the Makefile build for a processor that is not
// this machine's, whatever the caller's settings of Go are. Any folder gives the same
// bytes, so that a deployment without a change deploys nothing. A cold start loads the zip,
// which has at most 3.8 MB.
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
			binary := build(t, ".", name, architecture)
			if read(t, binary) != read(t, build(t, elsewhere, name, architecture)) {
				t.Error("another folder gives other bytes")
			}
			zip, err := exec.CommandContext(t.Context(), "gzip", "--stdout", binary).Output() // as a zip compresses
			if err != nil || len(zip) > 3_800_000 {
				t.Errorf("its zip has %d bytes (%v), want at most 3.8 MB", len(zip), err)
			}
		})
	}
}

// build builds a function as `sam build` does, and returns the path of the binary. The binary must be for the
// architecture, as checkBuild says.
func build(t *testing.T, folder, name, architecture string) string {
	t.Helper()
	artifacts := filepath.Join(t.TempDir(), name)
	run(t, "env", "CGO_ENABLED=1", "GOAMD64=v3", "GOARM64=v9.0", "make", "-C", folder, "build-"+name, "ARCH="+architecture, "SHIFT=at-once", "ARTIFACTS_DIR="+artifacts)
	if shift := checkBuild(t, artifacts, architecture); shift != "at-once" {
		t.Errorf("the parameters have the shift %s, want at-once", shift)
	}
	return filepath.Join(artifacts, "bootstrap")
}

// TestMake checks what the targets for a deployment would run.
func TestMake(t *testing.T) {
	tests := []struct {
		name      string
		arguments []string
		want      []string
	}{
		{
			name: "by default, dev is deployed", arguments: []string{"deploy"},
			want: []string{"make build ARCH=arm64 SHIFT=gradual\n", "sam deploy --config-env dev "},
		},
		{
			name: "another environment, at once", arguments: []string{"deploy", "ENV=staging", "SHIFT=at-once"},
			want: []string{"make build ARCH=arm64 SHIFT=at-once\n", "sam deploy --config-env staging "},
		},
		{
			name: "a test that writes", arguments: []string{"contract", "URL=https://plants.example", "WRITES=all"},
			want: []string{"CONTRACT_URL='https://plants.example' WRITES='all' "},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "make", append([]string{"--dry-run"}, test.arguments...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("make %v runs %s, want %q", test.arguments, out, want)
				}
			}
		})
	}
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
	for name := range properties[function](t, production(t), "AWS::Lambda::Function") {
		checkBuild(t, filepath.Join(".aws-sam/build", name), architecture)
	}
}

// checkBuild checks that a binary is for a processor and needs no library, and that
// `sam deploy` and `sam local` get that processor from the parameters beside its folder. It
// returns the shift among those.
func checkBuild(t *testing.T, artifacts, architecture string) (shift string) {
	t.Helper()
	var parameters struct {
		Architecture string `yaml:"Architecture"`
		Build        string `yaml:"Build"`
		Shift        string `yaml:"Shift"`
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(artifacts, "../parameters.yaml"))), &parameters); err != nil {
		t.Fatal(err)
	}
	if parameters.Architecture != architecture || parameters.Build == "" || parameters.Shift == "" {
		t.Errorf("the parameters are %+v, want the architecture %s, a build and a shift", parameters, architecture)
	}
	file, err := elf.NewFile(strings.NewReader(read(t, filepath.Join(artifacts, "bootstrap"))))
	if err != nil {
		t.Fatal(err)
	}
	if file.Machine != machines[architecture] {
		t.Errorf("%s is for %v, want %s", artifacts, file.Machine, architecture)
	}
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("%s needs the libraries %v (%v), want none", artifacts, libraries, err)
	}
	built, err := buildinfo.ReadFile(filepath.Join(artifacts, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range built.Settings {
		if want, ok := settings[setting.Key]; ok && setting.Value != want {
			t.Errorf("%s is built with %s=%s, want %s", artifacts, setting.Key, setting.Value, want)
		}
	}
	return parameters.Shift
}

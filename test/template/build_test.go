package template

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"os"
	"os/exec"
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
	parameters, err := os.ReadFile(".aws-sam/build/parameters.yaml")
	if want := "Architecture: " + architecture + "\n"; err != nil || string(parameters) != want {
		t.Errorf("the parameters that samconfig.toml gives `sam deploy` = %q (%v), want %q", parameters, err, want)
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

// The same source gives the same bytes, in whatever folder it is built, so that a
// deployment without a change deploys nothing; and they fit into a zip of 3.6 MB,
// of which a cold start loads every one.
func TestFunctionsBuildTheSameAndSmall(t *testing.T) {
	const limit = 3_600_000
	elsewhere := t.TempDir()
	for _, name := range []string{"cmd", "internal"} {
		if err := os.CopyFS(filepath.Join(elsewhere, name), os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "Makefile"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(elsewhere, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, function := range []string{"CreatePlantFunction", "AuthorizerFunction"} {
		first, second := buildFunction(t, ".", function), buildFunction(t, elsewhere, function)
		if !bytes.Equal(first, second) {
			t.Errorf("%s has other bytes when it is built in another folder", function)
		}
		var zip bytes.Buffer
		w, err := flate.NewWriter(&zip, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(first); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if zip.Len() > limit {
			t.Errorf("%s zipped = %d bytes, want at most %d", function, zip.Len(), limit)
		}
	}
}

// buildFunction builds a function in folder as SAM has it built, and returns the
// one file that it consists of.
func buildFunction(t *testing.T, folder, function string) []byte {
	t.Helper()
	artifacts := t.TempDir()
	command := exec.CommandContext(t.Context(), "make", "-C", folder, "build-"+function, "ARCH=x86_64", "ARTIFACTS_DIR="+artifacts)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make build-%s: %v\n%s", function, err, out)
	}
	files, err := os.ReadDir(artifacts)
	if err != nil || len(files) != 1 || files[0].Name() != "bootstrap" {
		t.Fatalf("make build-%s made %v (%v), want bootstrap alone", function, files, err)
	}
	content, err := os.ReadFile(filepath.Join(artifacts, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

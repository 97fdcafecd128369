package template

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBuiltFunctions checks what `sam build` has built. SAM does not tell the Makefile for which processor it builds.
func TestBuiltFunctions(t *testing.T) {
	if os.Getenv("BUILT") == "" {
		t.Skip("skipped: `make build` runs this on what it built")
	}
	built := parse(t, ".aws-sam/build/template.yaml")
	architecture := built.text("Parameters.Architecture.Default")
	if got, want := read(t, ".aws-sam/build/parameters.yaml"), "Architecture: "+architecture+"\n"; got != want {
		t.Errorf("`sam deploy` gets the parameters %q, want %q", got, want)
	}
	for name, resource := range built.resources(t, function) {
		folder := filepath.Join(".aws-sam/build", resource.text("Properties.CodeUri"))
		binary, err := elf.NewFile(bytes.NewReader(bootstrap(t, folder)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		libraries, err := binary.ImportedLibraries()
		want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
		if err != nil || len(libraries) > 0 || binary.Machine != want {
			t.Errorf("%s is for %v and needs %v (%v), want %v alone", name, binary.Machine, libraries, err, want)
		}
	}
}

// TestFunctionsBuildTheSameAndSmall checks that the same source gives the same bytes in any folder, so that a
// deployment without a change deploys nothing, and that their zip, which a cold start loads, has at most 3.6 MB.
func TestFunctionsBuildTheSameAndSmall(t *testing.T) {
	elsewhere := t.TempDir()
	copied := exec.CommandContext(t.Context(), "cp", "-R", "cmd", "internal", "go.mod", "go.sum", "Makefile", elsewhere)
	if out, err := copied.CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	for name := range parse(t, "template.yaml").resources(t, function) {
		first, second := build(t, ".", name), build(t, elsewhere, name)
		var zip bytes.Buffer
		w, err := flate.NewWriter(&zip, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(first) // a buffer takes everything
		_ = w.Close()
		if !bytes.Equal(first, second) || zip.Len() > 3_600_000 {
			t.Errorf("%s: same bytes in another folder = %t, zipped = %d bytes, want true and at most 3.6 MB",
				name, bytes.Equal(first, second), zip.Len())
		}
	}
}

// build builds a function in folder as SAM has it built, and returns its binary.
func build(t *testing.T, folder, name string) []byte {
	t.Helper()
	artifacts := t.TempDir()
	arguments := []string{"-C", folder, "build-" + name, "ARCH=x86_64", "ARTIFACTS_DIR=" + artifacts}
	if out, err := exec.CommandContext(t.Context(), "make", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("make build-%s: %v\n%s", name, err, out)
	}
	return bootstrap(t, artifacts)
}

// bootstrap returns the one file that a function consists of.
func bootstrap(t *testing.T, folder string) []byte {
	t.Helper()
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 || files[0].Name() != "bootstrap" {
		t.Fatalf("%s holds %v (%v), want bootstrap alone", folder, files, err)
	}
	return []byte(read(t, filepath.Join(folder, "bootstrap")))
}
